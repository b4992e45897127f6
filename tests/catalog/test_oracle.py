from pathlib import Path

import pytest

from kernelbot.catalog.oracle import Expectation, Solution, find_solutions
from kernelbot.protocol import Verdict


def test_solutions_are_found_by_suffix_correct_ones_first(tmp_path: Path) -> None:
    for name in ("correct/b.py", "correct/a.py", "wrong/c.py", "wrong/notes.md", "wrong/.x.py"):
        path = tmp_path / "solutions" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = find_solutions(tmp_path, "submission.py")
    assert ["correct/a.py", "correct/b.py", "wrong/c.py"] == [item.label for item in found]


def test_no_solutions_is_an_empty_plan(tmp_path: Path) -> None:
    assert () == find_solutions(tmp_path, "submission.py")


@pytest.mark.parametrize(
    ("expected", "verdict", "behaved"),
    [
        (Expectation.CORRECT, Verdict.ACCEPTED, True),
        (Expectation.CORRECT, Verdict.WRONG_ANSWER, False),
        (Expectation.CORRECT, Verdict.INTERNAL_ERROR, False),
        (Expectation.WRONG, Verdict.ACCEPTED, False),
        (Expectation.WRONG, Verdict.TIME_LIMIT, True),
        (Expectation.WRONG, Verdict.INTERNAL_ERROR, False),
    ],
)
def test_what_counts_as_behaving(expected: Expectation, verdict: Verdict, behaved: bool) -> None:
    assert behaved == Solution(Path("x.py"), expected).behaved(verdict)
