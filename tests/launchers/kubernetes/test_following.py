"""Jobs are followed by watches, whatever these say, or don't."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelbot.domain.errors import PlatformError, SchedulerError
from kernelbot.launchers.base import JobState, Launcher, Outcome
from kernelbot.launchers.patience import Patience
from kernelbot.protocol import Fault
from tests.fakes.kubernetes import FakeKubernetes
from tests.fakes.kubernetes.server import status
from tests.fakes.serving import Request, Response
from tests.launchers.kubernetes.places import a_cluster, plan
from tests.launchers.plans import DEVICE
from tests.launchers.stages import a_job, started
from tests.launchers.test_contract import over, poll
from tests.support.waiting import until, until_told

pytestmark = pytest.mark.each_run("test_another_worker_goes_on_with_what_runs")


@pytest.fixture
async def kubernetes(tmp_path: Path) -> AsyncIterator[FakeKubernetes]:
    async with a_cluster(tmp_path) as cluster:
        yield cluster


def is_watch(request: Request) -> bool:
    return request.query.get("watch") == "true"


async def begun(kubernetes: FakeKubernetes) -> None:
    async with asyncio.timeout(60):
        while not kubernetes.cluster.judged():  # noqa: ASYNC110  # another process begins it
            await asyncio.sleep(0.02)


async def waits(launcher: Launcher, handle: str, state: JobState) -> None:
    async with asyncio.timeout(60):
        while (await poll(launcher, handle)).state != state:  # noqa: ASYNC110  # a thread's turn
            await asyncio.sleep(0.02)


async def test_jobs_in_flight_cost_no_request(kubernetes: FakeKubernetes) -> None:
    kubernetes.cluster.makes_pods = False
    async with started(plan(kubernetes).build()) as launcher:
        handles = [await launcher.launch(a_job("accepted")) for _ in range(50)]
        await launcher.poll(handles)
        await until(lambda: all(kubernetes.asked("GET", kind) > 1 for kind in ("/jobs", "/pods")))
        kubernetes.requests.clear()  # both lists are followed now
        for _ in range(100):
            found = await launcher.poll(handles)
    assert ({JobState.WAITING}, []) == (
        {outcome.state for outcome in found.values()},
        kubernetes.requests,
    )


async def test_a_long_list_comes_in_parts(kubernetes: FakeKubernetes) -> None:
    kubernetes.cluster.makes_pods = False
    kubernetes.page = 7
    async with started(plan(kubernetes).build()) as launcher:
        handles = [await launcher.launch(a_job("accepted")) for _ in range(20)]
    async with started(plan(kubernetes).build()) as another:
        found = await another.poll(handles)
    assert {JobState.WAITING} == {outcome.state for outcome in found.values()}
    singly = [path for method, path in kubernetes.requests if method == "GET" and "/jobs/" in path]
    assert [] == singly


async def test_another_worker_goes_on_with_what_runs(kubernetes: FakeKubernetes) -> None:
    job = a_job("sleep 0.5 accepted")
    async with started(plan(kubernetes).build()) as launcher:
        handle = await launcher.launch(job)
        await begun(kubernetes)
    async with started(plan(kubernetes).build()) as another:
        outcome = await over(another, handle)
    assert (JobState.FINISHED, [job.job_id]) == (outcome.state, kubernetes.cluster.judged())


async def test_what_is_forgotten_is_listed_again(kubernetes: FakeKubernetes) -> None:
    async with started(plan(kubernetes, watch_s=1.0).build()) as launcher:
        await launcher.poll([])
        kubernetes.cluster.store.forgotten = kubernetes.cluster.store.version + 10
        outcome = await over(launcher, await launcher.launch(a_job("accepted")))
    assert JobState.FINISHED == outcome.state


async def test_a_watch_that_never_says_a_word_is_followed_by_a_list(
    kubernetes: FakeKubernetes,
) -> None:
    kubernetes.watches_say = False
    async with started(plan(kubernetes, watch_s=1.0).build()) as launcher:
        outcome = await over(launcher, await launcher.launch(a_job("accepted")))
    assert JobState.FINISHED == outcome.state
    assert kubernetes.asked("GET", "/pods") < 12  # after each watch, and not after twenty


@pytest.mark.parametrize(
    "line",
    [
        b"{}\n",
        b"null\n",
        b'{"type": "MODIFIED"}\n',
        b'{"type": "EXPEDITED", "object": {"metadata": {"name": "x", "uid": "y"}}}\n',
        b'{"type": "ADDED", "object": {"metadata": {"name": "../x", "uid": "y"}}}\n',
        b'{"type": "ERROR", "object": {"code": 500, "message": "etcd"}}\n',
        b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": 3}}}\n',
        b"\xff\xfe\n",
        b"<html>502 Bad Gateway</html>\n",
        b"x" * (5 << 20),
        b"[" * 100_000 + b"\n",
    ],
)
async def test_a_watch_that_says_nonsense_is_followed_by_a_list(
    kubernetes: FakeKubernetes, line: bytes
) -> None:
    kubernetes.wrong = lambda r: Response(200, stream=[line]) if is_watch(r) else None
    async with started(plan(kubernetes).build()) as launcher:
        outcome = await over(launcher, await launcher.launch(a_job("accepted")))
    assert JobState.FINISHED == outcome.state


async def test_a_result_is_found_whose_pod_no_watch_has_told_of(
    kubernetes: FakeKubernetes,
) -> None:
    kubernetes.wrong = lambda r: (
        status(500, "etcd") if is_watch(r) and r.path.endswith("/pods") else None
    )
    async with started(plan(kubernetes, settle_s=0).build()) as launcher:
        launcher._pods._pause_s = 3600  # after which there is a list again
        await launcher.poll([])
        outcome = await over(launcher, await launcher.launch(a_job("accepted")))
    assert JobState.FINISHED == outcome.state


@pytest.mark.parametrize("code", [401, 403, 410, 429, 500])
async def test_without_a_watch_there_are_lists(kubernetes: FakeKubernetes, code: int) -> None:
    kubernetes.wrong = lambda r: status(code, "no watch") if is_watch(r) else None
    async with started(plan(kubernetes).build()) as launcher:
        outcome = await over(launcher, await launcher.launch(a_job("accepted")))
    assert JobState.FINISHED == outcome.state


async def test_a_cluster_that_closes_watches_at_once_is_not_flooded(
    kubernetes: FakeKubernetes,
) -> None:
    kubernetes.wrong = lambda r: Response(200, stream=[]) if is_watch(r) else None
    async with started(plan(kubernetes).build()) as launcher:
        await launcher.poll([])
        await asyncio.sleep(1.0)
    assert len(kubernetes.requests) < 20


@pytest.mark.parametrize("time", ["1970-01-01T00:00:00Z", "2999-01-01T00:00:00Z"])
async def test_the_clusters_clock_matters_to_nobody(kubernetes: FakeKubernetes, time: str) -> None:
    kubernetes.cluster.store.time = time
    async with started(plan(kubernetes).build()) as launcher:
        done = await over(launcher, await launcher.launch(a_job("accepted")))
        handle = await launcher.launch(a_job("sleep 60 accepted"))
        await launcher.cancel(handle)
        cancelled = await over(launcher, handle)
    assert (JobState.FINISHED, JobState.LOST) == (done.state, cancelled.state)


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (status(500, "etcd"), SchedulerError, "500 to listing jobs: etcd"),
        (status(401, "Unauthorized"), PlatformError, "doesn't accept our token"),
        (status(403, "cannot list"), PlatformError, "cannot list"),
        (status(404, "not found"), PlatformError, "not found"),
        (Response(200, b"<html>"), SchedulerError, "instead of a list of jobs"),
        (Response(200, b'{"items": []}'), SchedulerError, "instead of a list of jobs"),
        (Response(200, b"[" * 100_000), SchedulerError, "instead of a list of jobs"),
        (Response(200, b" " * (20 << 20)), SchedulerError, "more than 16 MiB"),
    ],
)
async def test_a_cluster_of_which_nothing_can_be_said(
    kubernetes: FakeKubernetes, answer: Response, error: type[Exception], said: str
) -> None:
    kubernetes.wrong = lambda _: answer
    async with started(plan(kubernetes).build()) as launcher:
        with pytest.raises(error, match=said):
            await launcher.poll(["x"])
        with pytest.raises(error, match=said):
            await launcher.availability(DEVICE)


async def test_a_list_that_has_no_end_is_an_error(kubernetes: FakeKubernetes) -> None:
    page = {"metadata": {"resourceVersion": "1", "continue": "x"}, "items": []}
    kubernetes.wrong = lambda _: Response(200, json.dumps(page).encode())
    async with started(plan(kubernetes).build()) as launcher:
        with pytest.raises(SchedulerError, match="lists more than 20000 jobs"):
            await launcher.poll(["x"])


async def test_a_cluster_that_is_back_is_asked_again(kubernetes: FakeKubernetes) -> None:
    kubernetes.wrong = lambda _: status(503, "starting")
    async with started(plan(kubernetes).build()) as launcher:
        with pytest.raises(SchedulerError, match="starting"):
            await launcher.poll(["x"])
        kubernetes.wrong = lambda _: None
        outcome = await over_once_it_answers(launcher)
    assert JobState.FINISHED == outcome


async def over_once_it_answers(launcher: Launcher) -> JobState:
    handle = await launcher.launch(a_job("accepted"))
    async with asyncio.timeout(60):
        while True:
            try:
                return (await over(launcher, handle)).state
            except SchedulerError:
                await asyncio.sleep(0.05)


async def test_a_pod_that_somebody_deletes_is_the_schedulers_fault(
    kubernetes: FakeKubernetes,
) -> None:
    async with started(plan(kubernetes).build()) as launcher:
        handle = await launcher.launch(a_job("sleep 60 accepted"))
        await begun(kubernetes)
        job = kubernetes.job(handle)
        (pod,) = kubernetes.cluster.pods_of(job)
        kubernetes.cluster.delete_pod(pod)
        kubernetes.cluster.end_job(job, "Failed", reason="BackoffLimitExceeded", message="")
        outcome = await over(launcher, handle)
    assert (JobState.LOST, Fault.SCHEDULER) == (outcome.state, outcome.fault)
    assert "its pod was deleted" in outcome.reason


async def test_a_job_that_somebody_deletes_is_lost(kubernetes: FakeKubernetes) -> None:
    async with started(plan(kubernetes).build()) as launcher:
        handle = await launcher.launch(a_job("sleep 60 accepted"))
        await begun(kubernetes)
        kubernetes.cluster.delete_job(kubernetes.job(handle), "Background")
        outcome = await over(launcher, handle)
    assert (JobState.LOST, Fault.SCHEDULER) == (outcome.state, outcome.fault)


async def test_a_job_that_can_never_be_read_is_lost_in_the_end(
    kubernetes: FakeKubernetes,
) -> None:
    now, strange = 0.0, "6fd6bd9c-1b1e-4f4e-9bd5-2f0b8e9b0f5e:999.1.0123456789ab"
    kubernetes.cluster.makes_pods = False
    kubernetes.wrong = lambda r: status(500, "etcd") if r.path.endswith("0123456789ab") else None
    async with started(plan(kubernetes).build()) as launcher:
        launcher._patience = Patience(lambda: now)
        other = await launcher.launch(a_job("accepted"))
        found = [await launcher.poll([strange, other])]
        now = 1000.0
        found.append(await launcher.poll([strange, other]))
    why = "Kubernetes answered 500 to reading a Job: etcd"
    lost = Outcome(JobState.LOST, reason=why, fault=Fault.SCHEDULER)
    assert [Outcome(JobState.RUNNING), lost] == [each[strange] for each in found]
    assert JobState.WAITING == found[-1][other].state


async def test_a_job_that_waits_goes_on_waiting_while_it_cant_be_read(
    kubernetes: FakeKubernetes,
) -> None:
    kubernetes.cluster.makes_pods = False
    async with started(plan(kubernetes).build()) as launcher:
        handle = await launcher.launch(a_job("accepted"))
        found = [await poll(launcher, handle)]
        kubernetes.wrong = lambda r: status(500, "etcd") if "/jobs/" in r.path else None
        kubernetes.cluster.delete_job(kubernetes.job(handle), "Background")
        name = handle.partition(":")[2].replace(".", "-")

        async def is_asked_for() -> bool:
            found.append(await poll(launcher, handle))
            return kubernetes.asked("GET", name) > 0

        await until_told(is_asked_for)
    assert {JobState.WAITING} == {outcome.state for outcome in found}


async def test_an_image_that_cannot_be_had_is_given_up(kubernetes: FakeKubernetes) -> None:
    kubernetes.cluster.held = True
    async with started(plan(kubernetes).build()) as launcher:
        handle = await launcher.launch(a_job("accepted"))
        job = kubernetes.job(handle)
        kubernetes.cluster.lack_image(job)
        await waits(launcher, handle, JobState.WAITING)
        outcome = await over(launcher, handle)
    assert (JobState.LOST, Fault.PLATFORM) == (outcome.state, outcome.fault)
    assert "its container can't begin: ErrImagePull: manifest unknown" == outcome.reason
    assert "deletionTimestamp" in job["metadata"]


async def test_what_waits_for_a_node_makes_its_device_unavailable(
    kubernetes: FakeKubernetes,
) -> None:
    kubernetes.cluster.held = True
    async with started(plan(kubernetes).build()) as launcher:
        handle = await launcher.launch(a_job("accepted"))
        await waits(launcher, handle, JobState.WAITING)
        waiting = (await launcher.poll([handle]))[handle]
        first = later = await launcher.availability(DEVICE)
        async with asyncio.timeout(60):
            while later.available:
                await asyncio.sleep(0.02)
                later = await launcher.availability(DEVICE)
        kubernetes.cluster.release()
        await over(launcher, handle)
        after = await launcher.availability(DEVICE)
    assert (True, False, True) == (first.available, later.available, after.available)
    assert "a job waits: no node takes its pod: 0/1 nodes are available" in later.note
    assert "no node takes its pod: 0/1 nodes are available" in waiting.reason


async def test_why_a_pod_cannot_be_made_is_said(kubernetes: FakeKubernetes) -> None:
    kubernetes.cluster.makes_pods = False
    async with started(plan(kubernetes).build()) as launcher:
        handle = await launcher.launch(a_job("accepted"))
        told = {"involvedObject": {"uid": handle.partition(":")[0]}, "metadata": {"name": "x"}}
        message = "Error creating: pods is forbidden: violates PodSecurity"
        kubernetes.cluster.events.append({**told, "reason": "FailedCreate", "message": message})
        await launcher.availability(DEVICE)
        await asyncio.sleep(0.3)
        found = await launcher.availability(DEVICE)
    assert (False, f"a job waits: {message}") == (found.available, found.note)


async def test_a_cluster_that_shows_no_nodes_is_believed_to_have_them(
    kubernetes: FakeKubernetes,
) -> None:
    kubernetes.rights -= {("list", "nodes"), ("list", "resourcequotas"), ("list", "events")}
    kubernetes.cluster.nodes = []
    async with started(plan(kubernetes).build()) as launcher:
        found = await launcher.availability(DEVICE)
    assert (True, "") == (found.available, found.note)


async def test_a_large_clusters_nodes_come_in_parts(kubernetes: FakeKubernetes) -> None:
    having = kubernetes.cluster.nodes[0]
    without = {**having, "spec": {"unschedulable": True}}
    kubernetes.page = 2
    kubernetes.cluster.nodes = [without] * 4 + [having]
    async with started(plan(kubernetes).build()) as launcher:
        found = await launcher.availability(DEVICE)
    assert (True, "") == (found.available, found.note)
    assert 3 == len([path for _, path in kubernetes.requests if path.endswith("/nodes")])


async def test_a_cluster_without_room_is_unavailable(kubernetes: FakeKubernetes) -> None:
    kubernetes.cluster.nodes[0]["spec"] = {"unschedulable": True}
    async with started(plan(kubernetes).build()) as launcher:
        found = await launcher.availability(DEVICE)
    assert (False, "take no pods now: gpu-node-1") == (found.available, found.note[-28:])


async def test_a_result_that_comes_while_its_job_is_cancelled_stays(
    kubernetes: FakeKubernetes,
) -> None:
    async with started(plan(kubernetes).build()) as launcher:
        handle = await launcher.launch(a_job("sleep 60 accepted"))
        await begun(kubernetes)
        job = kubernetes.job(handle)

        def ends_first(request: Request) -> Response | None:
            if request.method == "DELETE":
                kubernetes.wrong = lambda _: None
                kubernetes.cluster.end_job(job, "Complete", reason="x", message="")
            return None

        kubernetes.wrong = ends_first
        await launcher.cancel(handle)
        deleted = "deletionTimestamp" in job["metadata"]
    assert (False, 1) == (deleted, kubernetes.asked("DELETE", job["metadata"]["name"]))
