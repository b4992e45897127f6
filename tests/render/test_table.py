from kernelbot.render.table import table


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    expected = "name  n\na     1\nlong  22"
    assert expected == table(("name", "n"), [("a", "1"), ("long", "22")])


def test_columns_named_are_aligned_right() -> None:
    expected = "name   n\na      1\nlong  22"
    assert expected == table(("name", "n"), [("a", "1"), ("long", "22")], right=("n",))
