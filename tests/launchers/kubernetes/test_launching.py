"""What a Job is made of, and that there is one of each attempt, whatever is lost."""

import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelbot.domain.errors import (
    DeviceRefused,
    JobRefused,
    NoRoom,
    PlatformError,
    SchedulerError,
)
from kernelbot.launchers.base import JobState
from kernelbot.launchers.kubernetes import KubernetesDevice, Security, Toleration
from kernelbot.launchers.kubernetes.api import KubernetesApi
from kernelbot.launchers.kubernetes.credentials import ClusterCredentials, FixedToken
from kernelbot.launchers.kubernetes.manifest import JobMaker, device_label, object_name
from kernelbot.launchers.kubernetes.settings import Effect, Operator
from kernelbot.protocol import SourceFile
from tests.fakes.kubernetes import NAMESPACE, TOKEN, FakeKubernetes
from tests.fakes.kubernetes.facts import mistakes
from tests.fakes.kubernetes.rules import refused
from tests.fakes.kubernetes.server import status
from tests.fakes.links import fake_links
from tests.fakes.serving import Request, Response
from tests.launchers.kubernetes.places import IMAGE, a_cluster, plan, settings, with_device
from tests.launchers.plans import DEVICE
from tests.launchers.stages import a_job, started
from tests.launchers.test_contract import over
from tests.support.results import result_in

EVERYTHING = KubernetesDevice(
    "amd.com/gpu",
    IMAGE,
    count=8,
    node_selector={"zone": "a"},
    tolerations=(
        Toleration("amd.com/gpu", Operator.EXISTS, effect=Effect.NO_SCHEDULE),
        Toleration(operator=Operator.EXISTS),
        Toleration("team", value="kernels"),
    ),
    runtime_class="nvidia",
    queue="kernels",
)


@pytest.fixture
async def kubernetes(tmp_path: Path) -> AsyncIterator[FakeKubernetes]:
    async with a_cluster(tmp_path) as cluster:
        yield cluster


def body(**changes: Any) -> dict[str, Any]:
    made = JobMaker(settings(**changes)).job_body(a_job("accepted"))
    return dict(json.loads(json.dumps(made)))


@pytest.mark.parametrize("device", [KubernetesDevice(None, IMAGE), EVERYTHING])
@pytest.mark.parametrize("security", Security)
@pytest.mark.parametrize("more", [{}, {"image_pull_secrets": ("mine",), "service_account": "judge",
                                       "priority_class": "high"}])  # fmt: skip
def test_every_job_is_as_kubernetes_describes_it(
    device: KubernetesDevice, security: Security, more: dict[str, Any]
) -> None:
    made = body(devices={DEVICE: device}, security=security, **more)
    assert [] == mistakes("Job", made)
    assert "" == refused(made["spec"]["template"]["spec"])


def test_a_job_asks_for_what_its_device_needs() -> None:
    job = body(devices={DEVICE: EVERYTHING}, wait_s=3600, slack_s=60, ttl_s=900)
    pod = job["spec"]["template"]["spec"]
    judging_s = a_job("accepted").longest_s + 60
    assert (0, judging_s + 3600, 900, judging_s, "Never", False) == (
        job["spec"]["backoffLimit"],
        job["spec"]["activeDeadlineSeconds"],
        job["spec"]["ttlSecondsAfterFinished"],
        pod["activeDeadlineSeconds"],
        pod["restartPolicy"],
        pod["automountServiceAccountToken"],
    )
    assert (True, "kernels", {"zone": "a"}, "nvidia") == (
        job["spec"]["suspend"],
        job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"],
        pod["nodeSelector"],
        pod["runtimeClassName"],
    )
    assert [
        {"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"operator": "Exists"},
        {"key": "team", "operator": "Equal", "value": "kernels"},
    ] == pod["tolerations"]
    asked = {"cpu": "4", "memory": "16Gi", "amd.com/gpu": "8"}
    assert {"requests": asked, "limits": asked} == pod["containers"][0]["resources"]


def test_the_judges_container_has_no_volume_with_the_secret() -> None:
    pod = body()["spec"]["template"]["spec"]
    deliver, judge = pod["initContainers"][0], pod["containers"][0]
    mounted = [{each["name"] for each in one["volumeMounts"]} for one in (deliver, judge)]
    assert [{"secret", "job"}, {"job", "shared-memory"}] == mounted


def test_without_privileges_a_pod_has_users_of_its_own() -> None:
    pods = [body(security=each)["spec"]["template"]["spec"] for each in Security]
    assert [False, None] == [pod.get("hostUsers") for pod in pods]
    contexts = [pod["containers"][0]["securityContext"] for pod in pods]
    seen = [context.get("privileged") for context in contexts]
    assert [None, True] == seen


@pytest.mark.parametrize(
    ("lacking", "said"), [("hostUsers", "to use `Unmasked`"), ("restartPolicy", "Required value")]
)
async def test_a_pod_that_kubernetes_refuses_is_refused(
    kubernetes: FakeKubernetes, lacking: str, said: str
) -> None:
    made = body()
    del made["spec"]["template"]["spec"][lacking]
    api = KubernetesApi(ClusterCredentials(kubernetes.url, FixedToken(TOKEN)), NAMESPACE, 60)
    with pytest.raises(DeviceRefused, match=said):
        await api.create_job(made)
    await api.close()
    assert not kubernetes.cluster.store.objects


@pytest.mark.parametrize(
    "attempt", ["a'; echo x", "", "1-1", "A.1", "1..1", ".1", "1.", "x" * 51, "1.1\n", "ä", "\0"]
)
def test_an_id_that_cannot_name_a_job_is_refused(attempt: str) -> None:
    with pytest.raises(PlatformError, match="can't name a"):
        object_name(attempt)


@pytest.mark.parametrize(
    ("device", "label"),
    [("H100", "H100"), ("a'; echo x", "a-echo-x"), ("--", ""), ("ä" * 9, ""), ("x" * 80, "x" * 50)],
)
def test_a_devices_name_becomes_a_label(device: str, label: str) -> None:
    assert label == device_label(device)


@pytest.mark.exhaustive
async def test_the_attempt_is_written_on_all_that_is_made(kubernetes: FakeKubernetes) -> None:
    kubernetes.cluster.held = True
    job = a_job("accepted")
    async with started(plan(kubernetes).build()) as launcher:
        handle = await launcher.launch(job)
    made = kubernetes.job(handle)
    assert f"{made['metadata']['uid']}:{job.job_id}" == handle
    objects = kubernetes.cluster.store.objects.values()
    labels = [each["metadata"]["labels"]["kernelbot/attempt"] for each in objects]
    assert [job.job_id] * 3 == labels
    (secret,) = kubernetes.cluster.store.list_kind("Secret")
    assert (True, made["metadata"]["uid"]) == (
        secret["immutable"],
        secret["metadata"]["ownerReferences"][0]["uid"],
    )


@pytest.mark.parametrize("failure", ["before", "after"])
@pytest.mark.exhaustive
async def test_a_lost_answer_makes_no_second_job(kubernetes: FakeKubernetes, failure: str) -> None:
    kubernetes.creations_fail = [failure]
    job = a_job("accepted")
    async with started(plan(kubernetes).build()) as launcher:
        with pytest.raises(SchedulerError, match="502"):
            await launcher.launch(job)
        outcome = await over(launcher, await launcher.launch(job))
    assert (JobState.FINISHED, [job.job_id]) == (outcome.state, kubernetes.cluster.judged())


@pytest.mark.exhaustive
async def test_a_worker_that_died_before_the_secret_is_made_up_for(
    kubernetes: FakeKubernetes,
) -> None:
    job = a_job("accepted")
    kubernetes.wrong = lambda r: status(500, "down") if r.path.endswith("/secrets") else None
    async with started(plan(kubernetes).build()) as launcher:
        with pytest.raises(SchedulerError, match="creating a Secret: down"):
            await launcher.launch(job)
    kubernetes.wrong = lambda _: None
    async with started(plan(kubernetes).build()) as another:
        outcome = await over(another, await another.launch(job))
    assert (JobState.FINISHED, [job.job_id]) == (outcome.state, kubernetes.cluster.judged())


@pytest.mark.parametrize(
    "answer",
    [
        status(403, "exceeded quota: objects, requested: secrets=1"),
        status(403, "admission webhook denied the request"),
        status(422, "data: Too long"),
    ],
    ids=["quota", "webhook", "size"],
)
async def test_a_job_whose_secret_is_refused_holds_no_gpu(
    kubernetes: FakeKubernetes, answer: Response
) -> None:
    kubernetes.wrong = lambda r: answer if r.path.endswith("/secrets") else None
    async with started(plan(kubernetes).build()) as launcher:
        with pytest.raises((SchedulerError, PlatformError)):
            await launcher.launch(a_job("accepted"))
    assert [] == kubernetes.cluster.store.list_kind("Job")


@pytest.mark.exhaustive
async def test_two_workers_at_once_launch_one(kubernetes: FakeKubernetes) -> None:
    job = a_job("accepted")
    async with started(plan(kubernetes).build()) as one, started(plan(kubernetes).build()) as two:
        handles = await asyncio.gather(*(each.launch(job) for each in (one, two) for _ in range(3)))
        outcome = await over(one, handles[0])
    assert (1, JobState.FINISHED) == (len(set(handles)), outcome.state)
    assert [job.job_id] == kubernetes.cluster.judged()


@pytest.mark.exhaustive
async def test_a_job_of_somebody_elses_with_its_name_is_left_alone(
    kubernetes: FakeKubernetes,
) -> None:
    kubernetes.cluster.makes_pods = False
    job = a_job("accepted")
    theirs = body()
    theirs["metadata"]["name"] = object_name(job.job_id)
    kubernetes.cluster.create_job(theirs)
    async with started(plan(kubernetes).build()) as launcher:
        with pytest.raises(PlatformError, match="isn't ours"):
            await launcher.launch(job)


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (status(422, "spec: Invalid value"), DeviceRefused, "refused the Job: spec: Invalid value"),
        (status(422, "data: Too long: must have at most 1"), JobRefused, "Too long"),
        (status(400, 'unknown field "spec.x"'), DeviceRefused, "unknown field"),
        (status(403, "exceeded quota: gpus, used: 2"), NoRoom, "exceeded quota"),
        (status(403, "cannot create resource"), DeviceRefused, "cannot create"),
        (status(404, "namespaces not found"), DeviceRefused, "namespaces not found"),
        (status(500, "etcd is down"), SchedulerError, "etcd is down"),
        (Response(200, b"<html>"), SchedulerError, "answered 200"),
        (Response(201, b"[]"), SchedulerError, "instead of a new Job"),
        (Response(201, b'{"metadata": {"name": "x", "uid": 3}}'), SchedulerError, "new Job"),
    ],
)
@pytest.mark.exhaustive
async def test_each_refusal_is_told_apart(
    kubernetes: FakeKubernetes, answer: Response, error: type[Exception], said: str
) -> None:
    kubernetes.wrong = lambda r: answer if r.method == "POST" else None
    async with started(plan(kubernetes).build()) as launcher:
        with pytest.raises(error, match=said) as caught:
            await launcher.launch(a_job("accepted"))
    assert error is type(caught.value)


@pytest.mark.exhaustive
async def test_a_limit_that_ends_soon_is_waited_for(kubernetes: FakeKubernetes) -> None:
    limited = [status(429, "too many requests", headers={"Retry-After": "0"})] * 2

    def wrong(request: Request) -> Response | None:
        return limited.pop() if limited and request.method == "POST" else None

    kubernetes.wrong = wrong
    async with started(plan(kubernetes).build()) as launcher:
        await launcher.launch(a_job("accepted"))
    assert [] == limited


@pytest.mark.exhaustive
async def test_a_limit_that_lasts_is_an_error(kubernetes: FakeKubernetes) -> None:
    kubernetes.wrong = lambda _: status(429, "slow down", headers={"Retry-After": "3600"})
    async with started(plan(kubernetes).build()) as launcher:
        with pytest.raises(SchedulerError, match=r"429 .* slow down"):
            await launcher.launch(a_job("accepted"))


async def test_a_large_job_goes_by_a_link(kubernetes: FakeKubernetes, tmp_path: Path) -> None:
    noise = base64.b64encode(os.urandom(1_200_000)).decode()
    job = a_job("accepted")
    job = replace(job, submission=SourceFile("x.py", f"# fake: accepted\n# {noise}\n"))
    async with started(plan(kubernetes).build()) as launcher:
        with pytest.raises(JobRefused, match="more than a Secret of Kubernetes' carries"):
            await launcher.launch(job)
    with fake_links(tmp_path / "node.pyz") as links:
        links.jobs[job.job_id] = job
        async with started(plan(kubernetes, links.elsewhere()).build()) as launcher:
            outcome = await over(launcher, await launcher.launch(job))
    assert (JobState.FINISHED, True) == (outcome.state, f"/payload/{job.job_id}" in links.fetched)
    assert [job.job_id] == list(links.events)


@pytest.mark.exhaustive
async def test_what_a_pod_was_given_is_gone_while_it_judges(kubernetes: FakeKubernetes) -> None:
    job = a_job("sleep 30 accepted")
    async with started(plan(kubernetes).build()) as launcher:
        handle = await launcher.launch(job)
        async with asyncio.timeout(60):
            while not kubernetes.cluster.judged():  # noqa: ASYNC110  # another process begins it
                await asyncio.sleep(0.02)
        volumes = kubernetes.cluster.folder.glob("pods/*/volumes/job/*")
        assert [] == list(volumes)
        await launcher.cancel(handle)


@pytest.mark.exhaustive  # each run has test_a_large_job_goes_by_a_link
async def test_nothing_is_used_that_the_worker_may_not(kubernetes: FakeKubernetes) -> None:
    """And nothing may be used that isn't."""
    job = a_job("accepted")
    async with started(plan(kubernetes, **with_device(resource="nvidia.com/gpu")).build()) as one:
        handle = await one.launch(job)
        outcome = await over(one, handle)
        kubernetes.cluster.makes_pods = False
        stuck = await one.launch(a_job("accepted"))
        await asyncio.sleep(0.3)
        await one.availability(DEVICE)
        await one.availability(DEVICE)
        await asyncio.sleep(0.3)
        await one.availability(DEVICE)
        await one.cancel(stuck)
        await one.forget(handle)
    assert "accepted" == result_in(outcome, job).verdict.value
    assert kubernetes.rights == kubernetes.used
