"""A GitHub, and nodes, that say what they should not."""

import json
import math
import resource
from pathlib import Path

import pytest

from kernelbot.domain.errors import SchedulerError
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.patience import Patience
from kernelbot.launchers.results import NoResult
from kernelbot.protocol import Fault, JobSpec
from kernelbot.protocol.result_size import most_bytes
from kernelbot.worker.reading import ResultReader
from tests.fakes.github import TOKEN
from tests.fakes.github.actions import FakeRun
from tests.fakes.serving import Request, Response
from tests.launchers.github.places import Place, place, result_zip
from tests.launchers.stages import a_job
from tests.support.results import result_in, why_none
from tests.support.waiting import until
from tests.support.zips import zip_of_zeros, zipped

NONSENSE = [b"", b"<html>502 Bad Gateway</html>", b"{}", b"\xff\xfe\x00"]


def answers(here: Place, ending: str, response: Response) -> None:
    """From now on, to requests of such paths."""

    def wrong(request: Request) -> Response | None:
        return response if request.path.endswith(ending) else None

    here.github.wrong = wrong


@pytest.mark.parametrize("body", NONSENSE)
async def test_a_list_that_cant_be_read_loses_no_job(tmp_path: Path, body: bytes) -> None:
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        answers(here, "/runs", Response(200, body))
        with pytest.raises(SchedulerError, match="instead of runs"):
            await here.poll(handle)
        with pytest.raises(SchedulerError, match="instead of runs"):
            await here.launcher.launch(a_job("accepted"))
        here.github.wrong = lambda _: None
        assert await here.poll(handle) == Outcome(JobState.WAITING)


@pytest.mark.parametrize("status", [500, 502, 503, 418, 301, 204])
async def test_a_status_that_says_nothing_loses_no_job(tmp_path: Path, status: int) -> None:
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        answers(here, "/runs", Response(status, b"<html>"))
        with pytest.raises(SchedulerError, match=f"GitHub answered {status}"):
            await here.poll(handle)


def hide(here: Place, run: FakeRun) -> None:
    """The list doesn't show it, and a question about it is answered by nonsense."""
    run.shown_at = math.inf
    answers(here, f"/runs/{run.number}", Response(502, b"<html>"))


async def test_a_run_that_cant_be_read_spoils_no_other(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path) as here:
        handles = [await here.launcher.launch(each) for each in (job, a_job("accepted"))]
        hide(here, here.runs[1])
        here.github.actions.end(here.runs[0], "success", result_zip(job))
        found = await here.launcher.poll(handles)
    assert [found[handle].state for handle in handles] == [JobState.FINISHED, JobState.WAITING]


async def test_a_run_that_can_never_be_read_is_lost_in_the_end(tmp_path: Path) -> None:
    now = 0.0
    async with place(tmp_path) as here:
        here.launcher._patience = Patience(lambda: now)
        handle = await here.launcher.launch(a_job("accepted"))
        hide(here, here.runs[0])
        found = [await here.poll(handle)]
        now = 1000.0
        found.append(await here.poll(handle))
    why = "GitHub answered 502 to reading a run: '<html>'"
    lost = Outcome(JobState.LOST, reason=why, fault=Fault.SCHEDULER)
    assert found == [Outcome(JobState.WAITING), lost]


async def test_a_run_that_can_be_read_now_and_then_is_not_lost(tmp_path: Path) -> None:
    now = 0.0
    async with place(tmp_path) as here:
        here.launcher._patience = Patience(lambda: now)
        handle = await here.launcher.launch(a_job("accepted"))
        hide(here, here.runs[0])
        found = []
        for shown_at in (math.inf, 0.0, math.inf):
            here.runs[0].shown_at = shown_at
            found.append(await here.poll(handle))
            now += 50
    assert [Outcome(JobState.WAITING)] * 3 == found


@pytest.mark.parametrize("status", ["queued", "in_progress"])
async def test_a_run_that_cant_be_read_is_what_it_was(tmp_path: Path, status: str) -> None:
    """Whoever follows it would note once and for all that it has begun."""
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        here.runs[0].status = status
        found = [await here.poll(handle)]
        hide(here, here.runs[0])
        found.append(await here.poll(handle))
    state = JobState.WAITING if status == "queued" else JobState.RUNNING
    assert [Outcome(state)] * 2 == found


async def test_an_empty_list_loses_no_job(tmp_path: Path) -> None:
    empty = json.dumps({"total_count": 0, "workflow_runs": []}).encode()
    async with place(tmp_path, settle_s=0) as here:
        handle = await here.launcher.launch(a_job("accepted"))
        answers(here, "/runs", Response(200, empty))
        assert await here.poll(handle) == Outcome(JobState.WAITING)


@pytest.mark.parametrize(
    "body", [*NONSENSE, b'{"workflow_run_id": "12"}', b'{"workflow_run_id":-1}']
)
async def test_a_dispatch_answered_by_nonsense_is_found_by_its_name(
    tmp_path: Path, body: bytes
) -> None:
    job = a_job("accepted")
    async with place(tmp_path, appear_s=0.1) as here:
        here.github.dispatches_fail = ["after"]
        dispatch = here.github._dispatch

        def wrong(request: Request) -> Response | None:
            if not request.path.endswith("/dispatches"):
                return None
            dispatch(request, "kernelbot-nvidia.yml")
            return Response(200, body)

        here.github.wrong = wrong
        handle = await here.launcher.launch(job)
    assert [handle] == [f"{run.number}:{job.job_id}" for run in here.runs]


async def test_a_run_of_another_job_is_not_ours(tmp_path: Path) -> None:
    async with place(tmp_path, settle_s=0) as here:
        number = (await here.launcher.launch(a_job("accepted"))).split(":")[0]
        outcome = await here.poll(f"{number}:1.1.ffffffffffff")
    assert (outcome.state, outcome.reason) == (
        JobState.LOST,
        f"number {number} at GitHub isn't this job's",
    )


async def ended(folder: Path, archive: bytes, job: JobSpec | None = None) -> tuple[JobState, str]:
    """With what a job ends that leaves this, and why that is no result."""
    job = job or a_job("accepted")
    async with place(folder) as here:
        handle = await here.launcher.launch(job)
        here.github.actions.end(here.runs[0], "success", archive)
        found = await here.launcher.poll([handle], {handle: most_bytes(job)})
    return found[handle].state, why_none(found[handle], job)


@pytest.mark.parametrize("archive", [b"", b"<html>", b"PK\x05\x06", zipped(("a", b""))[:-5]])
async def test_an_artifact_that_is_no_zip_is_no_result(tmp_path: Path, archive: bytes) -> None:
    _, why = await ended(tmp_path, archive)
    assert "its archive" in why


@pytest.mark.parametrize("content", [*NONSENSE, b"[" * 100_000])
async def test_a_result_that_is_none_is_not_believed(tmp_path: Path, content: bytes) -> None:
    _, why = await ended(tmp_path, zipped(("result.json", content)))
    assert "can't be read" in why


@pytest.mark.parametrize(
    ("change", "said"),
    [({"job_id": "8.1.0123456789ab"}, "of another job"), ({"version": 99}, "update this side")],
)
async def test_a_result_of_another_job_or_version_is_not_believed(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    job = a_job("accepted")
    _, why = await ended(tmp_path, result_zip(job, **change), job)
    assert said in why


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"phases": []}, "verdict accepted isn't that of its phases"),
        ({"mode": "leaderboard"}, "its mode is 'leaderboard'"),
        ({"score_s": 5e-324}, "its score is given as"),
        ({"duration_s": -1.0}, "a duration is negative"),
        ({"stderr": None}, "can't be read"),
    ],
)
async def test_a_result_that_contradicts_itself_is_not_believed(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    job = a_job("accepted")
    _, why = await ended(tmp_path, result_zip(job, **change), job)
    assert said in why


@pytest.mark.exhaustive
async def test_a_small_zip_of_many_lists_is_ended_elsewhere(tmp_path: Path) -> None:
    job = a_job("accepted")
    archive = zipped(("result.json", b"[" + b"[[[]]]," * (3 << 20) + b"[]]"))
    assert len(archive) < 130_000
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(job)
        here.github.actions.end(here.runs[0], "success", archive)
        left = (await here.poll(handle)).left
    assert left is not None
    reader = ResultReader()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with pytest.raises(NoResult, match="needs more than 512 MiB"):
            await reader.read(left, job, 60)
    finally:
        await reader.close()
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 50 << 20


async def test_a_result_of_2_gb_is_never_read_whole(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, why = await ended(tmp_path, zip_of_zeros("result.json", 2048))
    grown_bytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert f"more than {most_bytes(a_job('accepted')) >> 20} MiB" in why
    assert grown_bytes < 200 << 20


async def test_an_artifact_of_more_than_it_may_have_is_not_downloaded(tmp_path: Path) -> None:
    most = most_bytes(a_job("accepted"))
    state, why = await ended(tmp_path, bytes(most + (1 << 20)))
    assert (state, f"more than {most >> 20} MiB" in why) == (JobState.LOST, True)


async def test_of_two_results_the_first_counts(tmp_path: Path) -> None:
    job, other = a_job("wrong_answer"), a_job("accepted")
    async with place(tmp_path) as here:
        handle = await here.launcher.launch(job)
        for each in (job, other):
            here.github.actions.end(here.runs[0], "success", result_zip(each))
        outcome = await here.poll(handle)
    assert result_in(outcome, job).verdict == "wrong_answer"


async def test_a_result_after_its_attempt_was_forgotten_is_nobodys(tmp_path: Path) -> None:
    job = a_job("accepted")
    async with place(tmp_path, settle_s=0) as here:
        here.launcher._left_over._first_pause_s = 0.05
        handle = await here.launcher.launch(job)
        await here.launcher.forget(handle)
        here.github.actions.end(here.runs[0], "success", result_zip(job))
        await until(lambda: not here.runs)
        outcome = await here.poll(handle)
    assert (outcome.reason, here.runs) == ("GitHub doesn't know it any more", [])


@pytest.mark.parametrize("value", ["x" * 100_000, "٣", "-5", "1e400"])
async def test_strange_headers_limit_nothing(tmp_path: Path, value: str) -> None:
    async with place(tmp_path) as here:
        listed = here.github._runs

        def wrong(request: Request) -> Response | None:
            if not request.path.endswith("/runs"):
                return None
            plain = value.encode("ascii", "replace").decode()[:5000]
            names = ("x-ratelimit-remaining", "x-ratelimit-reset", "retry-after", "date")
            return Response(200, listed(request).body, dict.fromkeys(names, plain))

        here.github.wrong = wrong
        handle = await here.launcher.launch(a_job("accepted"))
        assert await here.poll(handle) == Outcome(JobState.WAITING)
    assert here.github.accounts[TOKEN].left < 5000
