import asyncio
from pathlib import Path

import pytest

from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import (
    Banned,
    BoardClosed,
    Conflict,
    DeviceNotOffered,
    DeviceUnavailable,
    InvalidSubmission,
    KernelbotError,
    NotAllowed,
    NotFound,
    Paused,
    SubmissionTooLarge,
)
from kernelbot.domain.states import RunState, SubmissionState
from kernelbot.protocol import Mode
from kernelbot.runs.queue.model import DeviceQueuePosition
from kernelbot.submissions.model import NewSubmission, Submission
from tests.support.problems import CORRECT
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World


async def test_a_ranked_submission_has_a_public_and_a_secret_run(world: World) -> None:
    await world.board()
    submission = await world.submit()
    assert [(run.secret, run.state) for run in submission.runs] == [
        (False, RunState.QUEUED),
        (True, RunState.QUEUED),
    ]


@pytest.mark.parametrize("mode", [Mode.TEST, Mode.BENCHMARK, Mode.PROFILE])
async def test_other_modes_have_only_the_public_run(world: World, mode: Mode) -> None:
    await world.board()
    submission = await world.submit(mode=mode)
    assert [run.secret for run in submission.runs] == [False]


async def test_an_author_reads_back_what_was_submitted(world: World) -> None:
    await world.board()
    submitted = await world.submit(file_name="a'; echo x.py")
    seen = await world.services.submissions.get(world.ada.user, submitted.id)
    assert (CORRECT.decode(), "a'; echo x.py", "ada") == (seen.code, seen.file_name, seen.author)


@pytest.mark.parametrize("mode", [Mode.TEST, Mode.LEADERBOARD])
async def test_what_is_answered_is_what_is_stored(world: World, mode: Mode) -> None:
    await world.board()
    for person in (world.ada.user, world.admin.user):
        submitted = await world.submit(person, mode=mode)
        assert submitted == await world.services.submissions.get(person, submitted.id)


async def test_each_device_has_its_runs_and_each_public_one_its_event(world: World) -> None:
    await world.board("sort", ("H100", "CPU"))
    submitted = await world.submit(devices=("H100", "CPU"))
    assert submitted == await world.services.submissions.get(world.ada.user, submitted.id)
    async with world.database.read() as session:
        events = await session.all("SELECT id, run_id, kind FROM events ORDER BY id")
    assert [
        {"id": number, "run_id": run.id, "kind": "queued"}
        for number, run in enumerate((run for run in submitted.runs if not run.secret), 1)
    ] == events


async def test_the_place_is_told_with_the_answer(world: World) -> None:
    await world.board()
    await world.submit(mode=Mode.TEST)
    new = NewSubmission("sort", (), Mode.TEST, "fast.py", CORRECT)
    submission, place = await world.services.submissions.create(world.bob.user, new)
    assert place == await world.services.submissions.queue_position(submission.id)
    assert DeviceQueuePosition(2, None, "no worker serves it just now", device="CPU") == place


async def test_someone_elses_submission_is_not_shown(world: World) -> None:
    await world.board()
    submitted = await world.submit()
    with pytest.raises(NotAllowed):
        await world.services.submissions.get(world.bob.user, submitted.id)


@pytest.mark.parametrize("submission_id", [0, -1, 77, 2**63, 10**30])
async def test_unknown_submissions_are_not_found(world: World, submission_id: int) -> None:
    with pytest.raises(NotFound):
        await world.services.submissions.get(world.ada.user, submission_id)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"\xff\xfe", InvalidSubmission),
        (b"a\x00b", InvalidSubmission),
        (b" \n", InvalidSubmission),
        (b"#!POPCORN gpu\n", InvalidSubmission),
        (b"#!POPCORN leaderboard other\n", InvalidSubmission),
        (b"#!POPCORN gpu MI300\n", DeviceNotOffered),
        (b"x" * (1 << 20) + b"y", SubmissionTooLarge),
    ],
)
async def test_a_bad_file_is_refused(
    world: World, content: bytes, error: type[KernelbotError]
) -> None:
    await world.board()
    with pytest.raises(error):
        await world.submit(content=content)


async def test_a_bad_file_hears_first_that_nothing_is_taken_just_now(world: World) -> None:
    await world.board()
    await world.services.platform.pause(world.admin.user, "we move")
    with pytest.raises(Paused, match="paused just now: we move"):
        await world.submit(content=b"#!POPCORN gpu\n")


@pytest.mark.parametrize(
    "name", ["x.txt", "../x.py", "a\nb.py", ".py", "x" * 300 + ".py", "\u202e.py"]
)
async def test_a_bad_file_name_is_refused(world: World, name: str) -> None:
    await world.board()
    with pytest.raises(InvalidSubmission):
        await world.submit(file_name=name)


async def test_a_file_of_another_language_is_refused(world: World) -> None:
    await world.board()
    with pytest.raises(InvalidSubmission, match=r"solved in Python, so 'fast\.cpp' isn't"):
        await world.submit(file_name="fast.cpp")


async def test_an_unknown_board_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        await world.submit(board="nowhere\x00")


async def test_a_file_may_name_its_board_and_device(world: World) -> None:
    await world.board("Sort", ("CPU", "H100"))
    content = b"#!POPCORN leaderboard sort\n#!POPCORN gpu h100\n" + CORRECT
    submission = await world.submit(board=None, content=content, mode=Mode.TEST)
    assert [run.device for run in submission.runs] == ["H100"]


async def test_a_passed_deadline_closes_a_board(world: World) -> None:
    board = await world.board()
    async with world.database.write() as session:
        await session.do(
            "UPDATE leaderboards SET deadline = now() WHERE id = %(id)s", {"id": board.id}
        )
    with pytest.raises(BoardClosed):
        await world.submit()


async def test_banned_people_may_not_submit(world: World) -> None:
    await world.board()
    async with world.database.write() as session:
        await session.do("UPDATE users SET banned_at = now() WHERE name = 'ada'")
    ada = await world.services.users.authenticate(world.ada.token)
    with pytest.raises(Banned):
        await world.submit(ada)


async def test_nothing_is_kept_of_a_refused_submission(world: World) -> None:
    await world.board()
    with pytest.raises(DeviceNotOffered):
        await world.submit(devices=("H100",))
    assert await world.services.submission_lists.own(world.ada.user) == []


async def test_what_an_admin_cancels_is_in_the_log(world: World) -> None:
    await world.board()
    audit, cancel = world.services.audit, world.services.submissions.cancel
    mine, others = await world.submit(), await world.submit(world.bob.user)
    await cancel(world.ada.user, mine.id)
    await cancel(world.admin.user, others.id)
    entries = await audit.list_entries(world.admin.user)
    detail = {"board": "sort", "author_id": world.bob.user.id}
    assert [(f"submission:{others.id}", detail)] == [
        (one.subject, one.detail) for one in entries if one.action == "submission.cancel"
    ]


async def test_cancelling_twice_gives_the_same_answer(world: World) -> None:
    await world.board()
    submitted = await world.submit()
    first = await world.services.submissions.cancel(world.ada.user, submitted.id)
    again = await world.services.submissions.cancel(world.ada.user, submitted.id)
    assert (SubmissionState.CANCELLED, first) == (first.state, again)


async def test_the_same_source_is_stored_once(world: World) -> None:
    await world.board()
    await world.submit()
    await world.submit(world.bob.user)
    async with world.database.read() as session:
        row = await session.one("SELECT count(*) AS n FROM sources")
    assert row == {"n": 1}


async def test_authors_with_much_waiting_let_others_go_first(world: World) -> None:
    await world.board()
    await world.submit(mode=Mode.TEST)
    second = await world.submit(mode=Mode.TEST)
    other = await world.submit(world.bob.user, mode=Mode.TEST)
    place = world.services.submissions.queue_position
    assert [await place(second.id), await place(other.id)] == [
        DeviceQueuePosition(3, None, "no worker serves it just now", device="CPU"),
        DeviceQueuePosition(2, None, "no worker serves it just now", device="CPU"),
    ]


async def test_the_events_of_a_cancelled_submission_end(world: World) -> None:
    await world.board()
    submitted = await world.submit(mode=Mode.TEST)
    await world.services.submissions.cancel(world.ada.user, submitted.id)
    events = world.services.submissions.events(world.ada.user, submitted.id)
    seen = [(event.id, event.kind) async for event in events]
    assert seen == [(1, RunState.QUEUED), (2, RunState.CANCELLED)]


async def test_events_resume_after_an_id(world: World) -> None:
    await world.board()
    submitted = await world.submit(mode=Mode.TEST)
    await world.services.submissions.cancel(world.ada.user, submitted.id)
    events = world.services.submissions.events(world.ada.user, submitted.id, after=1)
    assert [event.id async for event in events] == [2]


async def test_lists_continue_before_an_id(world: World) -> None:
    await world.board()
    ids = [(await world.submit(mode=Mode.TEST)).id for _ in range(3)]
    page = await world.services.submission_lists.own(world.ada.user, limit=1, before_id=ids[2])
    assert [ids[1]] == [submission.id for submission in page]


async def test_a_finished_submission_cannot_be_cancelled(world: World) -> None:
    await world.board()
    submitted = await world.submit(mode=Mode.TEST)
    async with world.database.write() as session:
        await session.do(
            "UPDATE runs SET state = 'finished', verdict = 'accepted', finished_at = now()"
        )
    with pytest.raises(Conflict):
        await world.services.submissions.cancel(world.ada.user, submitted.id)


async def test_what_was_looked_at_is_shown_as_it_was_then(world: World, tmp_path: Path) -> None:
    await world.board()
    sent = await world.submit(mode=Mode.TEST, content=b"# fake: accepted\n")
    snapshot = await world.services.submissions.snapshot(world.ada.user, sent.id)
    async with working(quick_settings(tmp_path), world.database.url):
        await finished(world, sent.id)
    whole = await world.services.submissions.whole(snapshot)
    assert [(RunState.QUEUED, None)] == [(run.state, run.result) for run in whole.runs]


async def test_what_was_deleted_since_it_was_looked_at_is_not_found(world: World) -> None:
    await world.board()
    sent = await world.submit()
    snapshot = await world.services.submissions.snapshot(world.ada.user, sent.id)
    async with world.database.write() as session:
        await session.do("DELETE FROM submissions")
    with pytest.raises(NotFound):
        await world.services.submissions.whole(snapshot)


async def test_a_board_that_lets_none_wait_takes_what_can_be_judged_now(
    world: World, tmp_path: Path
) -> None:
    board = await world.board()
    edit = BoardEdit(refuse_unavailable=True)
    await world.services.boards.edit(world.admin.user, board.name, edit)
    with pytest.raises(DeviceUnavailable, match="no worker serves it just now"):
        await world.submit()
    assert [] == await world.services.submission_lists.own(world.ada.user, limit=5)
    async with working(quick_settings(tmp_path), world.database.url):
        sent = await _sent_once_available(world)
        await finished(world, sent.id)


async def _sent_once_available(world: World) -> Submission:
    async with asyncio.timeout(60):
        while True:
            try:
                return await world.submit(mode=Mode.TEST, content=b"# fake: accepted\n")
            except DeviceUnavailable:
                await asyncio.sleep(0.05)
