from hypothesis import given
from hypothesis import strategies as st

from kernelbot.render.text import (
    cell_len,
    counted,
    distinct,
    encodable,
    indent,
    one_line,
    printable,
    shorten,
    with_article,
    wrap,
)


def test_escape_sequences_are_written_out() -> None:
    assert "\\x1b[2Jhi\n" == printable("\x1b[2Jhi\n")


def test_right_to_left_overrides_are_written_out() -> None:
    assert "\\u202egpj.py" == printable("\u202egpj.py")


def test_one_thing_is_no_plural() -> None:
    assert ["0 runs", "1 run", "2 runs"] == [counted(number, "run") for number in (0, 1, 2)]


def test_a_name_stays_on_one_line() -> None:
    assert "a'; echo x\\nb" == one_line("a'; echo x\nb")


@given(st.text())
def test_what_is_printable_moves_no_cursor(text: str) -> None:
    assert all(c in "\n\t" or c.isprintable() for c in printable(text))


@given(st.text(), st.integers(min_value=0, max_value=300))
def test_shortened_text_keeps_the_limit(text: str, limit: int) -> None:
    assert len(shorten(text, limit)) <= max(limit, 0)


def test_the_middle_is_cut_out_with_a_note() -> None:
    text = shorten("a" * 500 + "b" * 500, 100)
    assert (True, True, True) == (
        text.startswith("aaa"),
        text.endswith("bbb"),
        "[... 900 characters left out ...]" in text,
    )


def test_labels_that_would_be_equal_are_numbered() -> None:
    names = ["a\nb", "record", "long name 12 a", "long name 12 b", "a\\nb", "long na… (2)"]
    assert {
        "a\nb": "a\\nb",
        "record": "record (2)",
        "long name 12 a": "long name 1…",
        "long name 12 b": "long na… (2)",
        "a\\nb": "a\\nb (2)",
        "long na… (2)": "long na… (3)",
    } == distinct(names, 12, reserved=["record"])


@given(st.lists(st.text(), unique=True), st.integers(min_value=8, max_value=12))
def test_labels_are_short_and_distinct(names: list[str], cells: int) -> None:
    labels = distinct(names, cells)
    assert names == list(labels)
    assert len(names) == len(set(labels.values()))
    assert all(cell_len(label) <= cells for label in labels.values())


def test_every_line_is_indented() -> None:
    assert "  a\n  b" == indent("a\nb", "  ")


def test_lines_break_at_words() -> None:
    text = "  one two three four\nshort\n数数 数数 数数"
    assert "  one two\n    three\n    four\nshort\n数数 数数\n  数数" == wrap(text, 10)


def test_an_article_fits_its_word() -> None:
    words = ("admin", "creator", "competitor", "Organiser")
    assert ["an admin", "a creator", "a competitor", "an Organiser"] == [
        with_article(word) for word in words
    ]


def test_halves_of_characters_are_replaced_and_nothing_else() -> None:
    assert "ä ? 🙂\0" == encodable("ä \ud83d 🙂\0")
