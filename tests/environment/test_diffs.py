"""Unified diffs, right ones and those that programs get wrong."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.domain.errors import InvalidSubmission
from kernelbot.environment.diffs import patched

BEFORE = "import numpy as np\n\n\ndef custom_kernel(data):\n    return data\n"
LINES = st.lists(st.sampled_from(["", "a", "b", "-", "+ c", "@@", "\x0c", "é", "\r"]), max_size=12)


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def diff(before: list[str], after: list[str], context: int) -> str:
    return text(list(difflib.unified_diff(before, after, "a", "b", n=context, lineterm="")))


@given(LINES, LINES, st.integers(0, 3))
def test_a_diff_of_two_texts_makes_the_second_of_the_first(
    before: list[str], after: list[str], context: int
) -> None:
    changes = diff(before, after, context)
    if changes:
        assert text(after) == patched(text(before), changes)


def test_a_hunk_is_found_by_its_lines_if_its_number_is_wrong() -> None:
    changes = "@@ -400,2 +77,1 @@ def\n def custom_kernel(data):\n-    return data\n+    return 1\n"
    assert BEFORE.replace("data\n", "1\n") == patched(BEFORE, changes)


def test_of_several_places_the_nearest_to_its_number_is_changed() -> None:
    before = text(["x"] * 9)
    assert text([*["x"] * 6, "y", "x", "x"]) == patched(before, "@@ -7 +7 @@\n-x\n+y\n")
    assert text([*["x"] * 8, "y"]) == patched(before, "@@ -70 +7 @@\n-x\n+y\n")


def test_the_first_program_may_be_a_diff_against_nothing() -> None:
    assert "a\nb\n" == patched("", "--- /dev/null\n+++ b/x.py\n@@ -0,0 +1,2 @@\n+a\n+b\n")


def test_blanks_that_an_editor_took_away_are_context() -> None:
    changes = "@@ -1,4 +1,4 @@\n-import numpy as np\n+import numpy\n\n\n def custom_kernel(data):\n"
    assert BEFORE.replace(" as np", "") == patched(BEFORE, changes)


@pytest.mark.parametrize(
    ("expected", "before", "changes"),
    [
        ("b", "a\n", "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"),
        ("b\n", "a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"),
        ("a\nb", "a", "@@ -1 +1,2 @@\n a\n+b"),
        ("b\n", "a\n", "@@ -1 +1 @@\n-a\n+b"),
        ("", "a\n", "@@ -1 +0,0 @@\n-a\n"),
    ],
)
def test_the_end_of_the_file_is_as_the_diff_says(expected: str, before: str, changes: str) -> None:
    assert expected == patched(before, changes)


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("isn't a unified diff", ""),
        ("isn't a unified diff", BEFORE),
        ("isn't a unified diff", "--- a\n+++ b\n"),
        ("isn't a unified diff", "\0"),
        ("Hunk 1 of the diff .@@ -1 .1 @@. fits nowhere", "@@ -1 +1 @@\n-nope\n+yes\n"),
        ("Hunk 2 .* fits nowhere", "@@ -4 +4 @@\n def custom_kernel(data):\n@@ -1 +1 @@\n-import"),
        ("begins with 'd'", "@@ -1 +1 @@\ndef custom_kernel(data):\n"),
        ("several files", "--- a\n+++ b\n@@ -1 +1 @@\n \n--- c\n+++ d\n@@ -1 +1 @@\n \n"),
        ("several files", "@@ -1 +1 @@\n \ndiff --git a/x b/x\n@@ -1 +1 @@\n \n"),
    ],
)
def test_what_cannot_be_applied_is_said_in_a_sentence(said: str, changes: str) -> None:
    with pytest.raises(InvalidSubmission, match=said):
        patched(BEFORE, changes)


def test_a_diff_that_fits_everywhere_but_for_its_end_has_a_bound() -> None:
    hunk = "@@ -1 +1 @@\n" + " \n" * 3_000 + "-x\n"
    with pytest.raises(InvalidSubmission, match="too much alike"):
        patched("\n" * 10_000, hunk)


def test_what_is_said_of_a_hunk_can_be_sent_whatever_its_head_is() -> None:
    with pytest.raises(InvalidSubmission, match=r"\(@@ -1 \+1 @@ \?\) fits nowhere") as raised:
        patched(BEFORE, "@@ -1 +1 @@ \ud800\n-x\n+y\n")
    assert str(raised.value).encode()
