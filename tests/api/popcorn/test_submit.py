"""Submitting as existing clients do; the services decide."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from kernelbot.api.departures import PRESENCE, Presence
from kernelbot.api.popcorn.stream import stream
from kernelbot.boards.model import Visibility
from kernelbot.protocol import Mode
from kernelbot.render.intervals import ONE_JUDGING, of_all_judgings
from tests.support.door import Door, client_of
from tests.support.problems import CORRECT, sort_problem
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World

PAST = datetime.now(UTC) - timedelta(hours=1)


@pytest.fixture
async def judged(world: World, tmp_path: Path) -> AsyncIterator[World]:
    """A world with a board, where what is sent is judged."""
    await world.board()
    async with working(quick_settings(tmp_path), world.database.url):
        yield world


async def submit(door: Door, path: str, name: str = "fast.py") -> httpx.Response:
    """Ada submits."""
    return await door.stranger.post(
        path,
        files={"file": (name, CORRECT)},
        headers={"X-Popcorn-Cli-Id": door.world.ada.token},
    )


async def read(door: Door, path: str) -> httpx.Response:
    """Ada asks."""
    return await door.stranger.get(path, headers={"X-Popcorn-Cli-Id": door.world.ada.token})


async def board(
    door: Door, name: str, *, deadline: datetime | None = None, closed: bool = False
) -> None:
    """A board on the CPU alone."""
    await door.world.services.boards.create(
        door.world.admin.user,
        sort_problem(name),
        name=name,
        deadline=deadline,
        visibility=Visibility.CLOSED if closed else Visibility.PUBLIC,
        devices=("CPU",),
    )


async def test_a_passed_deadline_is_a_403(door: Door) -> None:
    await board(door, "late", deadline=PAST)
    answer = await submit(door, "/submission/late/CPU/test")
    assert 403 == answer.status_code
    assert "deadline" in answer.json()["detail"]


async def test_a_closed_board_is_a_403_before_its_deadline(door: Door) -> None:
    await board(door, "inner", deadline=PAST, closed=True)
    answer = await submit(door, "/submission/inner/CPU/test")
    assert 403 == answer.status_code
    assert "closed" in answer.json()["detail"]


async def test_a_deadline_comes_before_a_device_that_is_not_offered(door: Door) -> None:
    await board(door, "late", deadline=PAST)
    assert 403 == (await submit(door, "/submission/late/H100/test")).status_code


async def test_a_device_that_the_board_does_not_offer_is_a_400(door: Door) -> None:
    await board(door, "sort")
    answer = await submit(door, "/submission/sort/H100/test")
    assert 400 == answer.status_code
    assert "H100" in answer.json()["detail"]


async def test_an_error_has_no_more_than_those_clients_know(door: Door) -> None:
    answers = [await submit(door, path) for path in ("/submission/nope/CPU/test", "/nope/CPU/x")]
    assert [{"detail", "code"}] * 2 == [set(answer.json()) for answer in answers]
    assert (
        "There is no board named 'nope'. See `GET /api/v1/boards`." == answers[0].json()["detail"]
    )


async def test_devices_match_in_any_case(door: Door) -> None:
    await board(door, "sort")
    assert 202 == (await submit(door, "/submission/sort/cpu/test")).status_code


async def test_closed_boards_are_not_listed_to_strangers(door: Door) -> None:
    await board(door, "inner", closed=True)
    assert [] == (await door.stranger.get("/leaderboards")).json()


async def test_a_cancelled_submission_is_done_and_says_why(door: Door) -> None:
    await board(door, "sort")
    submission_id = (await submit(door, "/submission/sort/CPU/test")).json()["details"]["id"]
    await door.world.services.submissions.cancel(door.world.ada.user, submission_id)
    shown = (await read(door, f"/user/submissions/{submission_id}")).json()
    assert (True, "failed") == (shown["done"], shown["job"]["status"])
    assert "cancelled" in shown["job"]["error"]


async def test_a_waiting_submission_shows_how_many_wait(door: Door) -> None:
    await board(door, "sort")
    submission_id = (await submit(door, "/submission/sort/CPU/test")).json()["details"]["id"]
    shown = (await read(door, f"/user/submissions/{submission_id}")).json()
    assert (False, "pending", 1) == (
        shown["done"],
        shown["job"]["status"],
        shown["runner_queue"]["queued_jobs"],
    )


async def test_a_stream_of_a_cancelled_submission_ends_with_an_error(door: Door) -> None:
    await board(door, "sort")
    following = asyncio.create_task(submit(door, "/sort/CPU/test"))
    for _ in range(1000):
        if found := await door.world.services.submission_lists.own(door.world.ada.user):
            break
        await asyncio.sleep(0.01)
    await door.world.services.submissions.cancel(door.world.ada.user, found[0].id)
    frames = (await following).text.strip().split("\n\n")
    event, data = frames[-1].split("\n")
    assert "event: error" == event
    assert "cancelled" in json.loads(data.removeprefix("data: "))["detail"]
    assert all(frame.startswith("event: status\n") for frame in frames[:-1])


async def test_a_stream_says_that_the_server_stops_and_the_submission_stays(door: Door) -> None:
    await board(door, "sort")
    presence = Presence()
    presence.stop()

    async def stopping(scope: Scope, receive: Receive, send: Send) -> None:
        await door.app({**scope, "state": {PRESENCE: presence}}, receive, send)

    async with client_of(stopping, door.world.ada) as ada:
        ada.headers["X-Popcorn-Cli-Id"] = door.world.ada.token
        answer = await ada.post("/sort/CPU/test", files={"file": ("fast.py", CORRECT)})
    assert answer.text.startswith("event: error\n")
    (sent,) = await door.world.services.submission_lists.own(door.world.ada.user)
    assert f"Submission {sent.id} is stored" in answer.text


@pytest.mark.exhaustive  # each run has test_a_passed_deadline_is_a_403
async def test_a_stream_says_of_the_same_code_at_once_that_it_is_not_ranked(judged: World) -> None:
    code = b"# fake: accepted 1.0 0.9 1.1\n"
    first = await judged.submit(content=code, mode=Mode.LEADERBOARD)
    await finished(judged, first.id)
    again = await judged.submit(content=code, mode=Mode.LEADERBOARD)
    service, ada = judged.services.submissions, judged.ada.user
    events = service.events(ada, again.id)
    frames = [
        frame
        async for frame in stream(again, events, lambda: service.get(ada, again.id), heartbeat_s=60)
    ]
    sentence = f"it is the same code as submission {first.id}, which counts once."
    assert f'"message": "Not ranked: {sentence}"' in frames[1]


@pytest.mark.exhaustive  # each run has test_a_passed_deadline_is_a_403
async def test_a_report_has_the_interval_of_the_ranking(judged: World) -> None:
    sent = await judged.submit(content=b"# fake: accepted 1.0 0.9 1.1\n", mode=Mode.LEADERBOARD)
    await finished(judged, sent.id)
    service, ada = judged.services.submissions, judged.ada.user
    events = service.events(ada, sent.id)
    frames = [
        frame
        async for frame in stream(sent, events, lambda: service.get(ada, sent.id), heartbeat_s=60)
    ]
    data = frames[-1].split("\n")[1].removeprefix("data: ")
    report = json.loads(data)["reports"][1].splitlines()
    (run,) = (run for run in (await service.get(ada, sent.id)).runs if run.secret)
    assert run.interval is not None
    assert (of_all_judgings(run.interval), ONE_JUDGING) == (report[1], report[-1])


async def test_without_an_admin_token_no_admin_route_opens(door: Door) -> None:
    async with client_of(door.app) as nobody:
        answers = [
            await nobody.get("/admin/submissions/1", headers={"Authorization": sent})
            for sent in ("Bearer ", "Bearer", "", "Bearer None")
        ]
    assert [401, 401, 401, 401] == [answer.status_code for answer in answers]


@pytest.mark.parametrize("path", ["/admin/x/test", "/api/v1/test", "/user/x/test", "/auth/x/test"])
async def test_other_paths_of_three_parts_are_no_boards(door: Door, path: str) -> None:
    assert 404 == (await submit(door, path)).status_code
