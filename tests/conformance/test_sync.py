"""`popcorn admin update-problems`, from a repository that the suite makes beside the server."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.popcorn_cli import (
    ADMIN_LIMITS_S,
    ClientFailure,
    Json,
    PopcornAdmin,
    PopcornCli,
)
from tests.conformance.target import DIRECTORY, EXAMPLES

BOARD = "conformance-sync"
COMPETITION = f"""\
name: Conformance
description: Made by the suite
deadline: ""
problems:
  - directory: {DIRECTORY}
    name: {BOARD}
    deadline: ""
    gpus: [CPU]
"""


def sync(admin: PopcornAdmin, repository: str, **more: object) -> Json:
    """What the client sends, and what it is told."""
    body = {"repository": repository, "branch": "main", "force": False, **more}
    return admin.call("POST", "/update-problems", body, limit_s=ADMIN_LIMITS_S["sync"])


@pytest.fixture
def repository(tmp_path: Path, admin: PopcornAdmin) -> Iterator[str]:
    """A git repository with one competition of one problem; its board is deleted afterwards."""
    if os.environ.get("CONFORMANCE_URL"):
        pytest.skip("the server may be on another machine")
    shutil.copytree(EXAMPLES / DIRECTORY, tmp_path / DIRECTORY)
    (tmp_path / "conformance.yaml").write_text(COMPETITION)
    identity = ["-c", "user.name=suite", "-c", "user.email=suite@localhost"]
    for command in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "."],
        ["commit", "--quiet", "-m", "A competition"],
    ):
        subprocess.run(["git", *identity, *command], cwd=tmp_path, check=True)
    yield f"file://{tmp_path}"
    with contextlib.suppress(ClientFailure):  # not every test makes the board
        admin.call("DELETE", f"/leaderboards/{BOARD}?force=true")


def test_boards_are_created_and_named(admin: PopcornAdmin, repository: str) -> None:
    expected = {"status": "ok", "created": [BOARD], "updated": [], "skipped": [], "errors": []}
    assert expected == sync(admin, repository)


@pytest.mark.exhaustive  # each run has test_a_closed_board_is_made_on_demand
def test_what_is_unchanged_is_skipped_with_the_reason(admin: PopcornAdmin, repository: str) -> None:
    sync(admin, repository)
    again = sync(admin, repository)
    assert ([], [BOARD]) == (again["created"], [item["name"] for item in again["skipped"]])
    assert again["skipped"][0]["reason"]


def test_a_closed_board_is_made_on_demand(
    admin: PopcornAdmin, repository: str, stranger: PopcornCli
) -> None:
    sync(admin, repository, visibility="closed")
    assert BOARD not in [name for name, _ in stranger.leaderboards()]


def test_a_problem_set_that_is_not_there_is_refused(admin: PopcornAdmin, repository: str) -> None:
    with pytest.raises(ClientFailure, match=r"status 400"):
        sync(admin, repository, problem_set="no-such-set")


@pytest.mark.parametrize(
    "repository_url", ["file:///no/such/repository", "--upload-pack=x", "a'; echo x", "\x00"]
)
def test_a_repository_that_is_not_there_is_an_error_in_a_sentence(
    admin: PopcornAdmin, repository_url: str
) -> None:
    with pytest.raises(ClientFailure) as failure:
        sync(admin, repository_url)
    assert failure.value.status is not None
    assert 400 <= failure.value.status < 500
