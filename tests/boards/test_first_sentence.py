"""The first sentence of a description."""

import pytest

from kernelbot.boards.first_sentence import first_sentence


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("Sort it. Quickly.", "Sort it."),
        ("# Sort\n\n- a list\n\nSort *the*\n`array`! Then rest.", "Sort the array!"),
        (
            "Compute A @ B, e.g. of 3.5 by 2 values\n\nMore.",
            "Compute A @ B, e.g. of 3.5 by 2 values",
        ),
        ("![](x.png)\n\nSee [the paper](http://x.y/z).", "See the paper."),
        ("```\ncode\n```\n> quoted\n", ""),
        ("", ""),
        ("<script>alert(1)</script> is text.", "<script>alert(1)</script> is text."),
    ],
)
def test_the_first_sentence_of_the_first_paragraph(markdown: str, expected: str) -> None:
    assert expected == first_sentence(markdown)


@pytest.mark.parametrize(
    "text", ["x" * 4000, "[" * 4000, "`" * 4000, "> " * 2000, "\x1b\u202e" * 99]
)
def test_a_hostile_description_is_short_and_printable(text: str) -> None:
    found = first_sentence(text)
    assert (True, True) == (len(found) <= 160, found.isprintable())
