from pathlib import Path

import pytest

from kernelbot.catalog.oracle import Expectation, Solution, find_solutions, right_solutions
from kernelbot.protocol import SourceFile, Verdict


def test_solutions_are_found_by_suffix_correct_ones_first(tmp_path: Path) -> None:
    for name in ("correct/b.py", "correct/a.py", "wrong/c.py", "wrong/notes.md", "wrong/.x.py"):
        path = tmp_path / "solutions" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = find_solutions(tmp_path, "submission.py")
    assert ["correct/a.py", "correct/b.py", "wrong/c.py"] == [item.label for item in found]


def test_the_right_ones_that_a_board_judges(tmp_path: Path) -> None:
    folder = tmp_path / "solutions" / "correct"
    folder.mkdir(parents=True)
    (folder.parent / "wrong").mkdir()
    (folder.parent / "wrong" / "a.py").write_text("wrong")
    (folder / "b.py").write_text("right")
    (folder / "c.py").write_bytes(b"\xff")
    (folder / "d.py").write_text("nul \0")
    (folder / "e.py").symlink_to("/etc/passwd")
    (folder / "f.py").write_text("x" * (1 << 19))
    found = right_solutions(tmp_path, "submission.py")
    assert (SourceFile("correct/b.py", "right"),) == found


def test_a_folder_by_a_link_is_none_of_the_problems(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "correct"
    elsewhere.mkdir(parents=True)
    (elsewhere / "a.py").write_text("of somebody else")
    problem = tmp_path / "problem"
    problem.mkdir()
    (problem / "solutions").symlink_to(elsewhere.parent)
    assert () == right_solutions(problem, "submission.py")


def test_a_board_judges_eight_at_most(tmp_path: Path) -> None:
    folder = tmp_path / "solutions" / "correct"
    folder.mkdir(parents=True)
    for number in range(20):
        (folder / f"{number:02}.py").touch()
    assert 8 == len(right_solutions(tmp_path, "submission.py"))


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
