"""What an organiser does with `popcorn admin`, and with the routes other front ends use."""

from datetime import UTC, datetime

import httpx
import pytest

from tests.conformance import submissions
from tests.conformance.popcorn_cli import (
    ClientFailure,
    PopcornAdmin,
    PopcornCli,
    Submitted,
)
from tests.conformance.target import DIRECTORY, Target


@pytest.mark.exhaustive
def test_stats_are_an_object(admin: PopcornAdmin, ranked: Submitted) -> None:
    answer = admin.call("GET", "/stats")
    assert "ok" == answer["status"]
    assert answer["stats"]["num_submissions"] >= 1


def test_stats_can_be_narrowed(admin: PopcornAdmin, board: str, ranked: Submitted) -> None:
    answer = admin.call("GET", f"/stats?last_day_only=true&leaderboard_name={board}")
    assert isinstance(answer["stats"], dict)


def test_any_submission_can_be_read(admin: PopcornAdmin, ranked: Submitted) -> None:
    answer = admin.call("GET", f"/submissions/{ranked.id}")
    assert "ok" == answer["status"]
    found = answer["submission"]
    assert ranked.id in (found.get("id"), found.get("submission_id"))
    assert submissions.correct().content.decode() == found["code"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_unknown_submission_is_not_found(admin: PopcornAdmin, method: str) -> None:
    with pytest.raises(ClientFailure, match=r"status 404"):
        admin.call(method, f"/submissions/{2**62}")


@pytest.mark.exhaustive
def test_any_submission_can_be_deleted(
    admin: PopcornAdmin, author: PopcornCli, board: str, device: str
) -> None:
    done = author.submit(submissions.correct(), board, device, "test")
    deleted = admin.call("DELETE", f"/submissions/{done.id}")
    assert ("ok", done.id) == (deleted["status"], deleted["submission_id"])
    with pytest.raises(ClientFailure, match=r"status 404"):
        author.submission(done.id)


@pytest.mark.exhaustive  # each run has the deletions of tests/moderation/deletion
def test_all_of_an_authors_submissions_can_be_deleted(
    admin: PopcornAdmin, other: PopcornCli, board: str, device: str
) -> None:
    done = other.submit(submissions.correct(), board, device, "test")
    name = admin.call("GET", f"/submissions/{done.id}")["submission"]["user_name"]
    query = f"leaderboard_id={done.details['leaderboard_id']}&user_name={name}"
    assert "ok" == admin.call("DELETE", f"/submissions?{query}")["status"]
    assert [] == other.submissions(board)


def test_the_submissions_of_a_board_are_listed(
    admin: PopcornAdmin, board: str, ranked: Submitted
) -> None:
    answer = admin.call("GET", f"/leaderboards/{board}/submissions?limit=100&offset=0")
    assert "ok" == answer["status"]
    assert ranked.id in answer["submission_ids"]


class TestBoards:
    """Boards made from a folder, and deleted."""

    @pytest.mark.parametrize(
        "directory", ["no_such_problem", "../../etc", "/etc", "", "a'; echo x", "\x00"]
    )
    def test_a_folder_that_is_no_problem_is_a_400(
        self, admin: PopcornAdmin, directory: str
    ) -> None:
        with pytest.raises(ClientFailure) as failure:
            admin.call("POST", "/leaderboards", {"directory": directory})
        assert 400 == failure.value.status

    def test_a_dev_board_is_named_after_its_folder(self, board: str) -> None:
        assert f"{DIRECTORY}-dev" == board

    def test_a_dev_board_is_open_for_a_year(self, target: Target, board: str) -> None:
        boards = httpx.get(f"{target.url}/leaderboards", timeout=60).json()
        shown = next(item["deadline"] for item in boards if item["name"] == board)
        left = datetime.fromisoformat(shown) - datetime.now(UTC)
        assert 364 <= left.days <= 366

    def test_a_board_with_submissions_needs_force(
        self, admin: PopcornAdmin, board: str, ranked: Submitted
    ) -> None:
        with pytest.raises(ClientFailure, match=r"status 400: .*force"):
            admin.call("DELETE", f"/leaderboards/{board}")

    def test_an_unknown_board_is_not_found(self, admin: PopcornAdmin) -> None:
        with pytest.raises(ClientFailure, match=r"status 404"):
            admin.call("DELETE", "/leaderboards/no-such-board?force=true")
