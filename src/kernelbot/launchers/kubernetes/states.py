"""What a Job and its pod say of an attempt, and whose fault an end is."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from kernelbot.launchers.base import Outcome
from kernelbot.launchers.kubernetes.answers import (
    Condition,
    Container,
    ContainerWaiting,
    KubernetesJob,
    Pod,
    Terminated,
)
from kernelbot.launchers.kubernetes.manifest import DELIVER_CONTAINER, JUDGE_CONTAINER
from kernelbot.launchers.patience import RUNNING, WAITING
from kernelbot.launchers.results import lost
from kernelbot.protocol import Fault

_MADE = re.compile(r"result ([0-9]{1,10}) ([0-9a-f]{64})")
_OVER = frozenset(("Succeeded", "Failed"))
_NO_IMAGE = frozenset(
    (
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "RegistryUnavailable",
        "RunContainerError",
        "SignatureValidationFailed",
    )
)
_POD_ENDS = {
    "DeadlineExceeded": (
        Fault.PLATFORM,
        "Kubernetes ended it: judging took longer than all limits together",
    ),
    "Evicted": (Fault.SCHEDULER, "its node evicted its pod"),
    "NodeLost": (Fault.SCHEDULER, "its node is lost"),
    "NodeShutdown": (Fault.SCHEDULER, "its node was shut down"),
    "Preempting": (Fault.SCHEDULER, "its node gave its place to another pod"),
    "Shutdown": (Fault.SCHEDULER, "its node was shut down"),
    "Terminated": (Fault.SCHEDULER, "its node was shut down"),
    "UnexpectedAdmissionError": (Fault.SCHEDULER, "its node couldn't give it what it asked for"),
}
_JOB_ENDS = {
    "DeadlineExceeded": (Fault.SCHEDULER, "no node had judged it within its Job's deadline"),
    "BackoffLimitExceeded": (Fault.SCHEDULER, "its pod was deleted"),
}
_CONTAINER_ENDS = {
    "ContainerCannotRun": (Fault.PLATFORM, "its container can't be started"),
    "ContainerStatusUnknown": (Fault.SCHEDULER, "its node lost its container"),
    "OOMKilled": (Fault.PLATFORM, "its container used more memory than it has"),
    "StartError": (Fault.PLATFORM, "its container can't be started"),
}
_MAX_SAID = 300


@dataclass(frozen=True)
class LoggedResult:
    pod: str
    size: int
    """Bytes of its archive."""
    sha256: str


class Wait(StrEnum):
    """What an attempt that hasn't begun waits for."""

    QUEUE = "queue"
    """To be admitted by Kueue."""
    POD = "pod"
    """To be made: a quota or a policy of the cluster may be against it."""
    NODE = "node"
    CONTAINER = "container"
    """Which can't be made, perhaps never: its image isn't there."""


@dataclass(frozen=True)
class SeenAttempt:
    """What is known of an attempt. The outcome is None if `made` is there to be fetched."""

    outcome: Outcome | None
    made: LoggedResult | None = None
    wait: Wait | None = None
    why: str = ""
    """Why it waits, as far as Job and pod say so."""
    settles: bool = False
    """The outcome may only be what one half of the news says: of the Job, or of its pod."""


def see(job: KubernetesJob, pods: Collection[Pod]) -> SeenAttempt:
    """`pods`: the Job's own. There is one at a time."""
    pod = _the_one(pods)
    if pod is not None and (made := _made(pod)) is not None:
        return SeenAttempt(None, made)
    if job.spec.suspend and job.end is None:
        return SeenAttempt(WAITING, wait=Wait.QUEUE, why="its queue hasn't admitted it")
    if pod is not None and _is_over(pod):
        return SeenAttempt(_why_pod_ended(pod))
    if job.end is not None:
        return SeenAttempt(_why_job_ended(job.end), settles=True)
    if job.meta.deleted_at is not None:
        return SeenAttempt(RUNNING)
    return _not_over(pod)


def _not_over(pod: Pod | None) -> SeenAttempt:
    if pod is None:
        return SeenAttempt(WAITING, wait=Wait.POD)
    return _pending(pod) if pod.status.phase == "Pending" else SeenAttempt(RUNNING)


def _the_one(pods: Collection[Pod]) -> Pod | None:
    """The pod with a result; else one that isn't being deleted; else the newest."""
    newest_last = sorted(pods, key=lambda pod: pod.meta.created_at)
    newest_last.sort(key=lambda pod: (_made(pod) is not None, pod.meta.deleted_at is None))
    return newest_last[-1] if newest_last else None


def _ended(containers: tuple[Container, ...] | None, name: str) -> Terminated | None:
    found = (each.state.terminated for each in containers or () if each.name == name)
    return next(found, None)


def _made(pod: Pod) -> LoggedResult | None:
    ended = _ended(pod.status.containers, JUDGE_CONTAINER)
    if ended is None or ended.exit_code != 0:
        return None
    said = _MADE.fullmatch(ended.message or "")
    return None if said is None else LoggedResult(pod.meta.name, int(said[1]), said[2])


def _is_over(pod: Pod) -> bool:
    """A pod that the cluster deletes from a node that is lost stays as it was, perhaps for ever."""
    if pod.meta.deleted_at is not None and _is_disrupted(pod):
        return True
    over = pod.status.phase in _OVER
    return over or _ended(pod.status.containers, JUDGE_CONTAINER) is not None


def _is_disrupted(pod: Pod) -> bool:
    disrupted = pod.condition("DisruptionTarget")
    return disrupted is not None and disrupted.holds


def _pending(pod: Pod) -> SeenAttempt:
    scheduled = pod.condition("PodScheduled")
    if scheduled is not None and not scheduled.holds:
        why = _with_details("no node takes its pod", scheduled.message)
        return SeenAttempt(WAITING, wait=Wait.NODE, why=why)
    for each in (*(pod.status.before or ()), *(pod.status.containers or ())):
        waiting = each.state.waiting
        if waiting is not None and waiting.reason in _NO_IMAGE:
            why = _with_details(f"its container can't begin: {waiting.reason}", waiting.message)
            return SeenAttempt(WAITING, wait=Wait.CONTAINER, why=why)
    return SeenAttempt(WAITING)


def _why_pod_ended(pod: Pod) -> Outcome:
    if (disrupted := pod.condition("DisruptionTarget")) is not None and disrupted.holds:
        return _lost(Fault.SCHEDULER, "the cluster ended its pod", pod, disrupted.message)
    if pod.status.reason == "DeadlineExceeded" and (waiting := _never_begun(pod)) is not None:
        why = f"its container hadn't begun within its pod's deadline: {waiting.reason}"
        return _lost(Fault.PLATFORM, why, pod, waiting.message)
    if pod.status.reason in _POD_ENDS:
        return _lost(*_POD_ENDS[pod.status.reason or ""], pod, pod.status.message)
    if pod.meta.deleted_at is not None:
        return _lost(Fault.SCHEDULER, "its pod was deleted", pod, None)
    return _why_containers_ended(pod)


def _never_begun(pod: Pod) -> ContainerWaiting | None:
    """What the judge's container still waits for: its image, a volume, or its sandbox."""
    found = (each for each in pod.status.containers or () if each.name == JUDGE_CONTAINER)
    return next((each.state.waiting for each in found), None)


def _why_containers_ended(pod: Pod) -> Outcome:
    ended = _ended(pod.status.containers, JUDGE_CONTAINER)
    if ended is not None and ended.reason in _CONTAINER_ENDS:
        return _lost(*_CONTAINER_ENDS[ended.reason or ""], pod, ended.message)
    if ended is not None:
        said = ended.message or f"exit code {ended.exit_code}"
        return _lost(Fault.PLATFORM, "it ended without a result", pod, said)
    delivering = _ended(pod.status.before, DELIVER_CONTAINER)
    if delivering is not None and delivering.exit_code != 0:
        said = delivering.message or f"exit code {delivering.exit_code}"
        return _lost(Fault.PLATFORM, "its job couldn't be delivered", pod, said)
    why = f"its pod is {pod.status.phase}"
    return _lost(Fault.SCHEDULER, why, pod, pod.status.message or pod.status.reason)


def _why_job_ended(end: Condition) -> Outcome:
    """What became of a Job whose pod is gone, or isn't known to have ended."""
    if end.type == "Complete":
        return lost("its pod is gone, and its result with it", Fault.SCHEDULER)
    if end.reason in _JOB_ENDS:
        fault, why = _JOB_ENDS[end.reason or ""]
        return lost(_with_details(why, end.message), fault)
    return lost(_with_details(f"its Job is {end.type}", end.message or end.reason), Fault.SCHEDULER)


def _lost(fault: Fault, why: str, pod: Pod, said: str | None) -> Outcome:
    where = f" on node {pod.spec.node[:80]!r}" if pod.spec.node else ""
    return lost(_with_details(why + where, said), fault)


def _with_details(why: str, said: str | None) -> str:
    """The sentence with what the cluster says, on one line."""
    words = " ".join((said or "").split())[:_MAX_SAID]
    return f"{why}: {words}" if words else why
