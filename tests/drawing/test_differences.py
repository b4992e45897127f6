"""Differences of files, in a time that grows with their length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.drawing.differences import between, unified

LINES = st.lists(st.sampled_from(["a", "b", "c", "-", "@@ x", ""]), max_size=30)


def applied(lines: list[str], diff: list[str]) -> list[str]:
    """The file that a diff makes of another one."""
    found: list[str] = []
    at = 0
    for line in diff[2:]:
        if line.startswith("@@ "):
            start, _, length = line.split()[1][1:].partition(",")
            begin = int(start) - (length != "0")
            found += lines[at:begin]
            at = begin
        elif line[0] == "+":
            found.append(line[1:])
        else:
            assert lines[at] == line[1:]
            found += [line[1:]] if line[0] == " " else []
            at += 1
    return found + lines[at:]


@given(LINES, LINES)
def test_a_diff_makes_the_one_file_of_the_other(before: list[str], after: list[str]) -> None:
    diff = list(unified(before, after, "1", "2"))
    assert (after, before == after) == (applied(before, diff), diff == [])


def test_many_like_lines_are_replaced_where_they_differ() -> None:
    before = [str(n % 150) for n in range(12_000)]
    after = sorted(before)
    diff = list(unified(["x", *before, "y"], ["x", *after, "y"], "1", "2"))
    assert ["x", *after, "y"] == applied(["x", *before, "y"], diff)
    assert 24_000 >= len(diff) - 5


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("# note\x0cdo()\n", "# note\ndo()\n", ["-# note\x0cdo()", "+# note", "+do()"]),
        ("# note\u2028do()\n", "# note\ndo()\n", ["-# note\u2028do()", "+# note", "+do()"]),
        ("a\r\nb\r\n", "a\r\nc\n", ["-b", "+c"]),
        ("a\r\n", "a\n", ["-a\r", "+a"]),
        ("a\n", "a", ["-"]),
        ("a\n", "a\n", []),
    ],
)
def test_only_texts_that_are_equal_have_no_difference(
    before: str, after: str, changed: list[str]
) -> None:
    lines = between(before, after, "1", "2")
    assert changed == [line for line in lines[3:] if line[0] != " "]
