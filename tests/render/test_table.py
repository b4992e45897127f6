from kernelbot.render.table import table


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    expected = "name  n\na     1\nlong  22"
    assert expected == table(("name", "n"), [("a", "1"), ("long", "22")])


def test_columns_named_are_aligned_right() -> None:
    expected = "name   n\na      1\nlong  22"
    assert expected == table(("name", "n"), [("a", "1"), ("long", "22")], right=("n",))


def test_wide_and_combining_characters_keep_their_columns() -> None:
    rows = [("数数", "1"), ("e\u0301", "2"), ("🚀", "3")]
    lines = table(("name", "n"), rows).splitlines()
    assert ["name  n", "数数  1", "e\u0301     2", "🚀    3"] == lines


def test_the_widest_column_is_cut_to_fit() -> None:
    rows = [("a" * 30, "12"), ("数" * 10, "3")]
    lines = table(("name", "n"), rows, right=("n",), columns=16).splitlines()
    assert ["name           n", "aaaaaaaaaaa…  12", "数数数数数…    3"] == lines
