"""An author's own submissions: listed, deleted."""

import pytest

from tests.conformance import submissions
from tests.conformance.popcorn_cli import (
    ClientFailure,
    PopcornCli,
    Submitted,
    parse_score,
)


def test_the_list_has_what_the_client_shows(
    author: PopcornCli, board: str, device: str, ranked: Submitted
) -> None:
    item = next(item for item in author.submissions(board) if item["id"] == ranked.id)
    assert {"id", "leaderboard_name", "file_name", "submission_time", "done", "runs"} <= set(item)
    assert (board, "submission.py", True) == (
        item["leaderboard_name"],
        item["file_name"],
        item["done"],
    )
    assert [device] == [run["gpu_type"] for run in item["runs"]]
    assert all(parse_score(run["score"]) for run in item["runs"])


def test_the_list_shows_the_newest_first(
    author: PopcornCli, ranked: Submitted, tested: Submitted
) -> None:
    ids = [item["id"] for item in author.submissions()]
    assert sorted(ids, reverse=True) == ids


def test_the_list_can_be_paged(author: PopcornCli, ranked: Submitted, tested: Submitted) -> None:
    ids = [item["id"] for item in author.submissions(limit=100)]
    path = "/user/submissions?limit=1&offset=1"
    second = author.wire.send("GET", path, limit_s=30).json()
    assert [ids[1]] == [item["id"] for item in second]


def test_the_list_is_one_authors(other: PopcornCli, ranked: Submitted) -> None:
    assert ranked.id not in [item["id"] for item in other.submissions(limit=100)]


@pytest.mark.parametrize("limit", [0, 101, -1])
def test_a_limit_outside_1_to_100_is_a_400(author: PopcornCli, limit: int) -> None:
    with pytest.raises(ClientFailure, match=r"Server returned status 400: .*limit"):
        author.submissions(limit=limit)


def test_an_author_deletes_a_submission(author: PopcornCli, board: str, device: str) -> None:
    done = author.submit(submissions.correct(), board, device, "test")
    assert {"status": "ok", "submission_id": done.id} == author.delete(done.id)
    with pytest.raises(ClientFailure, match=r"status 404"):
        author.submission(done.id)


def test_nobody_else_deletes_it(other: PopcornCli, tested: Submitted) -> None:
    with pytest.raises(ClientFailure, match=r"status 403"):
        other.delete(tested.id)


def test_an_unknown_submission_cannot_be_deleted(author: PopcornCli) -> None:
    with pytest.raises(ClientFailure, match=r"status 404"):
        author.delete(2**62)
