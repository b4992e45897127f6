import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.render.markdown import fence, fenced_within, fits_fenced, inline, plain


@pytest.mark.parametrize(
    "text",
    ["@everyone", "<@123>", "<#5>", "**bold**", "`code`", "||secret||", "https://x.y", "# big"],
)
def test_plain_text_means_nothing(text: str) -> None:
    shown = plain(text)
    assert text != shown
    assert text == re.sub(r"\\(.)", r"\1", shown)


def test_line_breaks_and_control_characters_are_written_out() -> None:
    assert r"a\\nb\\x1b\\u202e" == plain("a\nb\x1b\u202e")


@given(st.text())
def test_content_never_closes_its_block(text: str) -> None:
    inside = fence(text).removeprefix("```\n").removesuffix("\n```")
    assert "```" not in inside
    assert not inside.endswith("`")


@given(st.text(st.sampled_from("`a\n"), max_size=300), st.integers(20, 200))
def test_a_block_keeps_within_its_limit(text: str, limit: int) -> None:
    block = fenced_within(text, limit)
    assert len(block) <= limit
    assert block.startswith("```")
    assert block.endswith("```")


@given(
    st.one_of(
        st.text(st.sampled_from("`a\n")),
        st.text(st.sampled_from("a\u200b\U000e0001\r\n\x1b")),
        st.text(st.sampled_from("🚀é`")),
        st.text(),
    ).filter(bool),
    st.integers(100, 1200),
)
def test_a_text_that_is_too_long_is_shown_as_far_as_it_fits(part: str, limit: int) -> None:
    # twice as long as that, since \\r\\n is one character once it is shown
    block = fenced_within(part * (2 * limit // len(part) + 2), limit)
    note = re.search(r"\n\[\.\.\. \d+ characters left out \.\.\.\]\n", block)
    shown = len(block) - len(fence("")) - len(note[0] if note else "")
    assert limit - 60 <= shown <= limit
    assert "```" not in block[4:-4]


def test_the_note_says_how_much_is_left_out() -> None:
    block = fenced_within("`" * 1000 + "x" * 1000, 500)
    (count,) = re.findall(r"(\d+) characters", block)
    shown = block.removeprefix("```\n").removesuffix("\n```").replace("\u200b", "")
    assert 2000 == int(count) + shown.count("`") + shown.split("...]")[1].count("x")


@given(st.text(st.sampled_from("`a\r\n\u200b🚀"), max_size=200), st.integers(0, 300))
def test_what_fits_is_left_whole(text: str, limit: int) -> None:
    assert fits_fenced(text, limit) == (len(fence(text)) <= limit)
    assert not fits_fenced(text, limit) or fence(text) == fenced_within(text, limit)


def test_lines_that_end_as_on_windows_are_lines() -> None:
    assert "```\na\nb\n```" == fence("a\r\nb")


@given(st.text())
def test_inline_code_has_two_backticks_only(text: str) -> None:
    assert inline(text).count("`") == 2
