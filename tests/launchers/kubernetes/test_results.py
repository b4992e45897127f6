"""Results come in a log, which may hold anything."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.patience import Patience
from kernelbot.protocol import Fault
from tests.fakes.kubernetes import FakeKubernetes
from tests.fakes.kubernetes.server import status
from tests.fakes.serving import Request, Response
from tests.launchers.kubernetes.places import a_cluster, plan
from tests.launchers.stages import a_job, started
from tests.launchers.test_contract import over, poll
from tests.support.waiting import until_told


@pytest.fixture
async def kubernetes(tmp_path: Path) -> AsyncIterator[FakeKubernetes]:
    async with a_cluster(tmp_path) as cluster:
        yield cluster


def is_log(request: Request) -> bool:
    return request.path.endswith("/log")


async def outcome(kubernetes: FakeKubernetes, text: str = "accepted", **changes: Any) -> Outcome:
    async with started(plan(kubernetes, **changes).build()) as launcher:
        return await over(launcher, await launcher.launch(a_job(text)))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"UEsDBAo=",  # another zip's beginning
        b"a'; echo x",
        b"\xff" * 1000,
        b"A" * (100 << 20),
        b"\n" * 100_000,
    ],
)
@pytest.mark.exhaustive
async def test_a_log_that_is_not_the_result_is_not_believed(
    kubernetes: FakeKubernetes, content: bytes
) -> None:
    kubernetes.wrong = lambda r: Response(200, content) if is_log(r) else None
    found = await outcome(kubernetes)
    assert (JobState.LOST, Fault.PLATFORM) == (found.state, found.fault)
    assert "its pod's log isn't the result of" in found.reason


async def test_a_log_that_is_written_late_is_waited_for(kubernetes: FakeKubernetes) -> None:
    early = [Response(200, b"")] * 3
    kubernetes.wrong = lambda r: early.pop() if early and is_log(r) else None
    found = await outcome(kubernetes, settle_s=60)
    assert (JobState.FINISHED, []) == (found.state, early)


@pytest.mark.exhaustive
async def test_a_log_that_cannot_be_read_just_now_is_asked_for_again(
    kubernetes: FakeKubernetes,
) -> None:
    failing = [status(500, "kubelet")] * 3
    kubernetes.wrong = lambda r: failing.pop() if failing and is_log(r) else None
    found = await outcome(kubernetes)
    assert (JobState.FINISHED, []) == (found.state, failing)


@pytest.mark.parametrize("answer", [status(500, "kubelet"), Response(200, b"")])
async def test_an_image_that_came_late_takes_no_time_from_the_result(
    kubernetes: FakeKubernetes, answer: Response
) -> None:
    now, answers = 0.0, [answer]
    kubernetes.wrong = lambda r: answers.pop() if answers and is_log(r) else None
    kubernetes.cluster.held = True
    async with started(plan(kubernetes, image_s=1e6, settle_s=60).build()) as launcher:
        launcher._patience = Patience(lambda: now)
        handle = await launcher.launch(a_job("accepted"))
        kubernetes.cluster.lack_image(kubernetes.job(handle))

        async def is_seen() -> bool:
            await poll(launcher, handle)
            return any("ErrImagePull" in told for told in launcher._told.values())

        await until_told(is_seen)
        now = 1000.0
        kubernetes.cluster.release()
        found = await over(launcher, handle)
    assert (JobState.FINISHED, []) == (found.state, answers)


@pytest.mark.exhaustive
async def test_a_log_that_is_gone_is_the_schedulers_fault(kubernetes: FakeKubernetes) -> None:
    kubernetes.wrong = lambda r: status(404, "pods not found") if is_log(r) else None
    found = await outcome(kubernetes)
    assert (JobState.LOST, Fault.SCHEDULER) == (found.state, found.fault)
    assert "its pod is gone, and its result with it" == found.reason


@pytest.mark.exhaustive
async def test_a_large_result_comes_whole(kubernetes: FakeKubernetes) -> None:
    found = await outcome(kubernetes, "long 6000000")
    assert found.left is not None
    assert (JobState.FINISHED, "result.json") == (found.state, found.left.zipped_as)


@pytest.mark.exhaustive
async def test_what_a_judge_said_before_it_ended_is_told(kubernetes: FakeKubernetes) -> None:
    found = await outcome(kubernetes, "die")
    assert (JobState.LOST, Fault.PLATFORM) == (found.state, found.fault)
    assert "it ended without a result on node 'gpu-node-1': exit code 9" in found.reason


@pytest.mark.exhaustive
async def test_a_log_of_the_right_size_that_says_something_else_is_not_believed(
    kubernetes: FakeKubernetes,
) -> None:
    def changed(request: Request) -> Response | None:
        if not is_log(request):
            return None
        content = kubernetes.cluster.log(request.path.split("/")[-2], "judge") or b""
        middle = len(content) // 2
        other = b"A" if content[middle : middle + 1] != b"A" else b"B"
        return Response(200, content[:middle] + other + content[middle + 1 :])

    kubernetes.wrong = changed
    found = await outcome(kubernetes)
    assert (JobState.LOST, Fault.PLATFORM) == (found.state, found.fault)
