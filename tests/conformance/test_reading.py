"""Boards, devices, rankings and queues, as anybody may read them."""

import httpx
import pytest

from tests.conformance.popcorn_cli import ClientFailure, PopcornCli, Submitted
from tests.conformance.target import Target

QUEUE_KEYS = {
    "runner",
    "gpu",
    "queued_jobs",
    "running_jobs",
    "available_runners",
    "status",
    "error",
}
ENTRY_KEYS = {
    "submission_name",
    "submission_id",
    "user_id",
    "user_name",
    "submission_time",
    "submission_score",
    "rank",
    "leaderboard_name",
    "gpu_type",
}


def test_health_is_ok(target: Target) -> None:
    answer = httpx.get(f"{target.url}/health", timeout=60)
    assert (200, "ok") == (answer.status_code, answer.json()["status"])


def test_leaderboards_have_what_the_client_needs(author: PopcornCli, board: str) -> None:
    assert board in [name for name, _ in author.leaderboards()]


def test_leaderboards_can_be_read_by_strangers(stranger: PopcornCli, board: str) -> None:
    assert board in [name for name, _ in stranger.leaderboards()]


def test_leaderboards_show_no_seeds_tests_or_files(target: Target, board: str) -> None:
    text = httpx.get(f"{target.url}/leaderboards", timeout=60).text
    assert [] == [word for word in ("seed", "reference", "generate_input") if word in text]


def test_gpus_are_names(author: PopcornCli, board: str) -> None:
    assert author.gpus(board)


def test_gpus_of_an_unknown_board_are_not_found(author: PopcornCli) -> None:
    with pytest.raises(ClientFailure, match=r"Server returned status 404: .+"):
        author.gpus("no-such-board")


def test_a_runner_queue_has_every_key(target: Target, device: str) -> None:
    queue = httpx.get(f"{target.url}/runner_queue/{device}", timeout=60).json()
    assert QUEUE_KEYS == set(queue)
    assert device == queue["gpu"]
    assert isinstance(queue["queued_jobs"], int)


@pytest.mark.parametrize("gpu", ["NoSuchGPU", "a'; echo x", "%00", "x" * 3000])
def test_a_runner_queue_is_never_an_error(target: Target, gpu: str) -> None:
    answer = httpx.get(f"{target.url}/runner_queue/{gpu}", timeout=60)
    assert (200, "unavailable") == (answer.status_code, answer.json()["status"])
    assert QUEUE_KEYS == set(answer.json())


def test_the_ranking_shows_the_best_of_each_author(
    target: Target, board: str, device: str, ranked: Submitted
) -> None:
    entries = httpx.get(f"{target.url}/submissions/{board}/{device}?limit=100", timeout=60).json()
    mine = [entry for entry in entries if entry["user_id"] == ranked.details["user_id"]]
    assert 1 == len(mine)
    assert set(mine[0]) >= ENTRY_KEYS
    assert mine[0]["submission_score"] > 0
    assert (board, device) == (mine[0]["leaderboard_name"], mine[0]["gpu_type"])
    assert sorted(entry["rank"] for entry in entries) == [entry["rank"] for entry in entries]


def test_the_ranking_can_be_paged(target: Target, board: str, device: str) -> None:
    beyond = httpx.get(
        f"{target.url}/submissions/{board}/{device}?limit=5&offset=100000", timeout=60
    )
    assert (200, []) == (beyond.status_code, beyond.json())


def test_the_ranking_of_an_unknown_board_is_not_found(target: Target, device: str) -> None:
    answer = httpx.get(f"{target.url}/submissions/no-such-board/{device}", timeout=60)
    assert 404 == answer.status_code
    assert isinstance(answer.json()["detail"], str)


def test_submissions_are_counted(
    target: Target, board: str, device: str, ranked: Submitted
) -> None:
    count = httpx.get(f"{target.url}/submission_count/{board}/{device}", timeout=60).json()["count"]
    assert count >= 1


def test_submissions_of_one_author_are_counted(
    target: Target, board: str, device: str, ranked: Submitted
) -> None:
    url = f"{target.url}/submission_count/{board}/{device}?user_id="
    mine = httpx.get(url + ranked.details["user_id"], timeout=60).json()["count"]
    nobodys = httpx.get(url + "no-such-user", timeout=60).json()["count"]
    assert mine >= 1
    assert 0 == nobodys
