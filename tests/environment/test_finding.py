"""Problems of folders, of trees, of repositories and of other suites."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kernelbot.domain.errors import InvalidProblem, NotFound, UserError
from kernelbot.environment.finding import find_problems
from tests.catalog.importing.suites import lay_kernelbench
from tests.environment.examples import EXAMPLES


def ids(*places: object, suite: str | None = None) -> list[str]:
    return [name for name, _ in find_problems([str(place) for place in places], suite).problems]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two problems, one of which has a twin; one that is none; and folders to pass over."""
    root = tmp_path / "a tree"
    for name in ("easy/sort_np", "hard/sort_np", "hard/identity_np", ".hidden/sort_np"):
        shutil.copytree(EXAMPLES / Path(name).name, root / name)
    (root / "broken").mkdir()
    (root / "broken/task.yml").write_text("lang: nope\n")
    (root / "empty").mkdir()
    return root


def test_a_folder_is_a_problem_or_a_tree_of_problems(tree: Path) -> None:
    assert ["sort_np"] == ids(tree / "easy/sort_np")
    assert ["easy/sort_np", "hard/identity_np", "hard/sort_np"] == ids(tree)
    assert ["identity_np", "sort_np", "sort_np"] == ids(tree / "hard", tree / "easy/sort_np")


def test_what_is_no_problem_among_others_is_said_and_left_out(tree: Path) -> None:
    (complaint,) = find_problems([str(tree)]).refused
    assert complaint.startswith("The problem in broken has")
    assert "task.yml:1: lang" in complaint


def test_a_folder_whose_name_is_no_text_is_said_and_left_out(tmp_path: Path) -> None:
    for name in ("fine", os.fsdecode(b"\xff")):
        shutil.copytree(EXAMPLES / "sort_np", tmp_path / name)
    found = find_problems([str(tmp_path)])
    assert (["fine"], ("?: the folder's name isn't text in UTF-8",)) == (
        [name for name, _ in found.problems],
        found.refused,
    )


def test_a_place_without_a_problem_is_a_mistake(tree: Path) -> None:
    for place, said in (
        (tree / "nope", "There is no folder"),
        (tree / "empty", "There is no problem in"),
        (tree / "broken", "lang"),
    ):
        with pytest.raises(InvalidProblem, match=said):
            ids(place)


@pytest.fixture
def repository(tree: Path) -> str:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=x", "-c", "user.email=x@x", *arguments],
            cwd=tree,
            check=True,
            capture_output=True,
        )

    git("init", "--quiet", "--initial-branch=main")
    git("add", "easy")
    git("commit", "--quiet", "--message=1")
    git("tag", "v1")
    git("add", ".")
    git("commit", "--quiet", "--message=2")
    return f"git+file://{tree}".replace(" ", "%20")


def test_a_repository_is_fetched_at_a_reference_and_from_a_folder(repository: str) -> None:
    assert ["easy/sort_np", "hard/identity_np", "hard/sort_np"] == ids(repository)
    assert ["easy/sort_np"] == ids(f"{repository}@v1")
    assert ["identity_np", "sort_np"] == ids(f"{repository}@main#hard")
    assert ["sort_np"] == ids(f"{repository}#easy/sort_np")


# Each run has test_a_repository_is_fetched_at_a_reference_and_from_a_folder
@pytest.mark.exhaustive
def test_a_repository_or_folder_that_is_not_there_is_a_mistake(repository: str) -> None:
    for place in (f"{repository}@nope", f"{repository}#../..", "git+nope", "git+"):
        with pytest.raises(UserError):
            ids(place)


def test_problems_of_another_suite_are_made_of_its_files(tmp_path: Path) -> None:
    lay_kernelbench(tmp_path / "suite")
    found = find_problems([str(tmp_path / "suite")], "kernelbench")
    assert found.problems
    assert all(loaded.definition.description for _, loaded in found.problems)
    with pytest.raises(NotFound, match="No package that is installed"):
        ids(tmp_path / "suite", suite="nope")
