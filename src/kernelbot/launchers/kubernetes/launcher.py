"""The launcher: what `Launcher` promises, in Jobs of Kubernetes'."""

import asyncio
import base64
import binascii
import hashlib
import random
import re
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, replace

import structlog

from kernelbot.domain.errors import (
    DeviceRefused,
    JobRefused,
    KernelbotError,
    NoRoom,
    PlatformError,
    SchedulerError,
)
from kernelbot.launchers.base import NO_SIZES, Availability, JobState, Outcome, Traits
from kernelbot.launchers.kubernetes.answers import KubernetesJob, Pod
from kernelbot.launchers.kubernetes.api import (
    JOBS,
    PODS,
    DeletionPropagation,
    KubernetesApi,
)
from kernelbot.launchers.kubernetes.credentials import ClusterCredentials
from kernelbot.launchers.kubernetes.manifest import (
    ATTEMPT_ID,
    DEVICE,
    JobMaker,
    device_label,
    object_name,
    secret_body,
)
from kernelbot.launchers.kubernetes.room import ClusterRoom
from kernelbot.launchers.kubernetes.script import PAYLOAD
from kernelbot.launchers.kubernetes.settings import KubernetesDevice, KubernetesSettings
from kernelbot.launchers.kubernetes.states import LoggedResult, SeenAttempt, Wait, see
from kernelbot.launchers.kubernetes.waiting import WaitTimes
from kernelbot.launchers.kubernetes.watched import WatchedObjects
from kernelbot.launchers.links import Links
from kernelbot.launchers.patience import RUNNING, WAITING, Patience
from kernelbot.launchers.rest.carried import carry
from kernelbot.launchers.rest.client import TooLarge
from kernelbot.launchers.results import found, lost, no_events, size_of, too_long, zip_size
from kernelbot.protocol import Fault, JobSpec, ProgressEvent

MAX_PAYLOAD = 1_000_000
"""Characters. No Secret may have more than 1 MiB."""
RESULT = "result.json"
_HANDLE = re.compile(rf"([0-9A-Za-z-]{{1,64}}):({ATTEMPT_ID})")
_ASKED_AT_ONCE = 20
"""Jobs asked for singly in one poll, of those that no watch has told of."""
_LOGS_AT_ONCE = 4
_CANCEL_TRIES = 5
_UNREAD, _UNLISTED, _FAILING = "unread", "unlisted", "failing"
"""What can't be had of a job: itself, its pod, or its log."""
_SETTLING, _NO_IMAGE, _CUT = "settling", "no image", "cut"
"""What may be amiss with it: the news of its end is half of it, its image can't be had, or its log
isn't whole."""
_REFUSED = (JobRefused, DeviceRefused, NoRoom, PlatformError)
"""What says that a Secret wasn't made."""
_STRANGE = lost("its handle is none of Kubernetes'")
_GONE = lost("Kubernetes doesn't know it any more", Fault.SCHEDULER)
log = structlog.get_logger()


@dataclass(frozen=True)
class _Handle:
    """The Job's uid tells it from one that got its name later."""

    uid: str
    attempt: str

    @classmethod
    def parse(cls, text: str) -> "_Handle | None":
        """None: no handle that we have made."""
        parts = _HANDLE.fullmatch(text)
        return cls(parts[1], parts[2]) if parts else None

    def __str__(self) -> str:
        return f"{self.uid}:{self.attempt}"


class KubernetesLauncher:
    """What each method promises, `Launcher` says. `links` None: pods can't reach this platform, so
    that a job must fit into a Secret, and the harness is that of the runner's image."""

    def __init__(
        self, settings: KubernetesSettings, credentials: ClusterCredentials, links: Links | None
    ) -> None:
        self._settings = settings
        self._links = links
        self._maker = JobMaker(settings)
        self._api = KubernetesApi(credentials, settings.namespace, settings.timeout_s)
        self._jobs = WatchedObjects(self._api, JOBS, settings.watch_s, settings.timeout_s)
        self._pods = WatchedObjects(self._api, PODS, settings.watch_s, settings.timeout_s)
        self._patience = Patience()
        self._told: dict[str, str] = {}
        """By attempt, what was said of its waiting last."""
        self._waiting = WaitTimes(settings.stuck_s)
        self._logs = asyncio.Semaphore(_LOGS_AT_ONCE)
        self._room = ClusterRoom(self._api)

    @property
    def traits(self) -> Traits:
        return self._settings.traits

    async def start(self) -> None:
        """Nothing: whether the cluster can be reached is told by `availability`."""

    async def close(self) -> None:
        await self._jobs.close()
        await self._pods.close()
        await self._api.close()

    async def launch(self, spec: JobSpec) -> str:
        """Create the Job of the attempt's name, if there is none, and its Secret. No Job stays
        whose Secret is refused: its pod would wait for that with the GPU."""
        name = object_name(spec.job_id)
        if spec.device.name not in self._settings.devices:
            raise PlatformError(f"This launcher has no device {spec.device.name!r}.")
        content = await asyncio.to_thread(self._content, spec)
        job = await self._api.create_job(self._maker.job_body(spec)) or await self._api.job(name)
        if job is None:
            raise SchedulerError(f"Kubernetes has a Job {name}, and doesn't show it.")
        if job.attempt != spec.job_id:
            raise PlatformError(f"The Job {name} isn't ours: somebody else made it.")
        if job.end is None and job.meta.deleted_at is None:
            try:
                await self._api.create_secret(secret_body(spec.job_id, job.meta.uid, content))
            except _REFUSED:  # after other failures it may be there
                await self._delete_refused(name, job.meta.uid)
                raise
        self._jobs.add(job)
        self._patience.told(spec.job_id, WAITING)
        return str(_Handle(job.meta.uid, spec.job_id))

    async def find(self, job_id: str) -> str | None:
        """Ask for the Job of the attempt's name."""
        job = await self._api.job(object_name(job_id))
        return str(_Handle(job.meta.uid, job_id)) if job and job.attempt == job_id else None

    async def _delete_refused(self, name: str, uid: str) -> None:
        try:
            await self._api.delete_job(name, uid, DeletionPropagation.BACKGROUND)
        except KernelbotError as error:  # then it ends with its deadline
            log.warning("job_not_deleted", job=name, error=str(error))

    def _content(self, spec: JobSpec) -> dict[str, str]:
        """The Secret's content, which `script.JUDGE` reads. Raises `JobRefused`."""
        carried = carry(
            spec,
            self._links,
            max_payload=MAX_PAYLOAD,
            wait_s=self._settings.wait_s,
            most_s=spec.longest_s + self._settings.slack_s,
            scheduler="a Secret of Kubernetes'",
        )
        given = {
            PAYLOAD: carried.payload,
            "SUBMISSION_PAYLOAD_URL": carried.payload_url,
            "SUBMISSION_EVENTS_URL": carried.links.events_url,
            "SUBMISSION_HARNESS_URL": carried.links.harness_url,
            "SUBMISSION_HARNESS_SHA256": carried.links.harness_sha256,
        }
        return {name: value for name, value in given.items() if value}

    def events(self, handle: str) -> AsyncIterator[tuple[ProgressEvent, ...]]:  # noqa: ARG002
        """None this way: pods that reach us send theirs."""
        return no_events()

    async def poll(
        self, handles: Collection[str], most_bytes: Mapping[str, int] = NO_SIZES
    ) -> dict[str, Outcome]:
        """What the watches have told, and the results of those that have one."""
        jobs = await self._jobs.items()
        pods = await self._pods.items()
        known = {text: handle for text in handles if (handle := _Handle.parse(text))}
        unseen = [handle for handle in known.values() if handle.uid not in jobs]
        asked = set(random.sample(unseen, min(len(unseen), _ASKED_AT_ONCE)))
        by_job = _by_job(pods.values())
        outcomes = await asyncio.gather(
            *(
                self._outcome(h, jobs.get(h.uid), by_job, size_of(text, most_bytes))
                if h.uid in jobs or h in asked
                else self._still(h)
                for text, h in known.items()
            )
        )
        told = dict(zip(known, outcomes, strict=True))
        return {handle: told.get(handle, _STRANGE) for handle in handles}

    async def _outcome(
        self, handle: _Handle, job: KubernetesJob | None, pods: Mapping[str, list[Pod]], most: int
    ) -> Outcome:
        if job is None:
            try:
                job = await self._api.job(object_name(handle.attempt))
            except KernelbotError as error:
                return self._failing(handle, _UNREAD, error)
            self._patience.over(handle.attempt, _UNREAD)
            if job is None or job.meta.uid != handle.uid:
                return _GONE
            self._jobs.add(job)
        if job.attempt != handle.attempt:
            return lost("the Job of this uid isn't this attempt's")
        seen = see(job, pods.get(handle.uid, ()))
        self._patience.told(handle.attempt, _waiting(seen.outcome or RUNNING, seen.why))
        self._tell_why_it_waits(handle, seen)
        self._note_what_is_over(handle, seen)
        if seen.outcome is None:
            assert seen.made is not None, "there is an outcome, or a result"
            return await self._result(handle, seen.made, most)
        if seen.settles:
            if not self._has_lasted(handle, _SETTLING, self._settings.settle_s):
                return RUNNING
            return await self._settled(handle, job, most)
        if seen.wait is Wait.CONTAINER:
            return await self._without_image(handle, seen)
        return _waiting(seen.outcome, seen.why)

    async def _settled(self, handle: _Handle, job: KubernetesJob, most: int) -> Outcome:
        """What became of a Job that has ended, by its pod as it is now: a watch that fails can be
        behind for longer than anybody waits."""
        try:
            pods = (await self._api.snapshot(PODS)).items
        except KernelbotError as error:
            return self._failing(handle, _UNLISTED, error)
        seen = see(job, [pod for pod in pods if pod.is_of(job)])
        if seen.outcome is not None:
            return seen.outcome
        assert seen.made is not None, "there is an outcome, or a result"
        return await self._result(handle, seen.made, most)

    async def _without_image(self, handle: _Handle, seen: SeenAttempt) -> Outcome:
        """Gives up a pod without its image after a while: its node would try for ever."""
        assert seen.outcome is not None
        waiting = _waiting(seen.outcome, seen.why)
        if not self._has_lasted(handle, _NO_IMAGE, self._settings.image_s):
            return waiting
        try:
            await self._cancel(handle)
        except KernelbotError as error:
            log.warning("job_not_cancelled", handle=str(handle), error=str(error))
            return waiting
        return lost(seen.why)

    async def _still(self, handle: _Handle) -> Outcome:
        """The outcome of a job that is asked for another time."""
        return self._patience.still(handle.attempt)

    def _failing(self, handle: _Handle, trouble: str, error: KernelbotError) -> Outcome:
        return self._patience.failing(handle.attempt, trouble, error, self.traits.silence_s)

    def _note_what_is_over(self, handle: _Handle, seen: SeenAttempt) -> None:
        if not seen.settles:
            self._patience.over(handle.attempt, _SETTLING, _UNLISTED)
        if seen.wait is not Wait.CONTAINER:
            self._patience.over(handle.attempt, _NO_IMAGE)

    def _has_lasted(self, handle: _Handle, trouble: str, seconds: float) -> bool:
        """Whether it has been amiss for so long."""
        return self._patience.since(handle.attempt, trouble) >= seconds

    def _tell_why_it_waits(self, handle: _Handle, seen: SeenAttempt) -> None:
        if seen.why and self._told.get(handle.attempt) != seen.why:
            self._told[handle.attempt] = seen.why
            log.info("job_waits", attempt=handle.attempt, reason=seen.why)

    async def _result(self, handle: _Handle, made: LoggedResult, most: int) -> Outcome:
        if made.size > zip_size(most):
            return lost(too_long(most))
        encoded = made.size * 4 // 3 + made.size // 1000 + 1024
        try:
            async with self._logs:
                content = await self._api.log(made.pod, encoded)
        except TooLarge:
            return lost(_cut(made))
        except KernelbotError as error:
            return self._failing(handle, _FAILING, error)
        self._patience.over(handle.attempt, _FAILING)
        if content is None:
            return lost("its pod is gone, and its result with it", Fault.SCHEDULER)
        archive = await asyncio.to_thread(_decoded, content)
        if archive is not None and _is(archive, made):
            return found(archive, most, RESULT)
        if not self._has_lasted(handle, _CUT, self._settings.settle_s):
            return RUNNING  # the log may be written later than the pod's end
        return lost(_cut(made))

    async def cancel(self, handle: str) -> None:
        """Delete the Job, which is gone once its pod is; not if it has ended meanwhile."""
        if (known := _Handle.parse(handle)) is not None:
            await self._cancel(known)

    async def _cancel(self, handle: _Handle) -> None:
        name = object_name(handle.attempt)
        for _ in range(_CANCEL_TRIES):
            job = await self._api.job(name)
            if job is None or job.meta.uid != handle.uid or job.meta.deleted_at is not None:
                return
            if job.end is not None or self._has_ended(job, await self._pods.items()):
                return
            if await self._api.delete_job(
                name, handle.uid, DeletionPropagation.FOREGROUND, job.meta.version
            ):
                return
        raise SchedulerError(f"The Job {name} changes all the time, and isn't deleted.")

    @staticmethod
    def _has_ended(job: KubernetesJob, pods: Mapping[str, Pod]) -> bool:
        """The attempt's pod has left a result, of which the Job may not know yet."""
        return see(job, [pod for pod in pods.values() if pod.is_of(job)]).made is not None

    async def forget(self, handle: str) -> None:
        """Delete the Job; the cluster deletes its pod and its Secret."""
        if (known := _Handle.parse(handle)) is None:
            return
        await self._api.delete_job(
            object_name(known.attempt), known.uid, DeletionPropagation.BACKGROUND
        )
        self._patience.forget(known.attempt)
        self._told.pop(known.attempt, None)

    async def availability(self, device: str) -> Availability:
        """Whether the cluster answers, has nodes for the device and room in its quotas, as far as
        our account may see them; and whether one of its jobs waits for a node, or for its pod."""
        wanted = self._settings.devices.get(device)
        if wanted is None:
            return Availability(False, f"this launcher has no device {device!r}")
        stuck = await self._why_stuck(device, wanted)
        no_room = await self._room.why_none(wanted)
        why = stuck or no_room
        return Availability(not why, why)

    async def _why_stuck(self, device: str, wanted: KubernetesDevice) -> str:
        """What keeps a job of the device's from beginning, if it has done so for a while and more
        jobs would only wait as well; empty: nothing."""
        jobs = await self._jobs.items()
        by_job = _by_job((await self._pods.items()).values())
        label = device_label(device)
        mine = {uid: job for uid, job in jobs.items() if _label(job) == label}
        stuck = self._waiting.stuck(
            device,
            {uid: see(job, by_job.get(uid, ())) for uid, job in mine.items()},
            for_a_node=not wanted.autoscaled,
        )
        if stuck is None:
            return ""
        uid, seen = stuck
        why = seen.why or await self._api.why_no_pod(uid)
        return f"a job waits: {why}" if why else ""


def _by_job(pods: Collection[Pod]) -> dict[str, list[Pod]]:
    found_pods: dict[str, list[Pod]] = {}
    for pod in pods:
        for owner in pod.meta.owners or ():
            found_pods.setdefault(owner.uid, []).append(pod)
    return found_pods


def _label(job: KubernetesJob) -> str:
    return (job.meta.labels or {}).get(DEVICE, "")


def _waiting(outcome: Outcome, why: str) -> Outcome:
    """The outcome, with what the job waits for if it does."""
    return replace(outcome, reason=why) if outcome.state is JobState.WAITING else outcome


def _decoded(content: bytes) -> bytes | None:
    try:
        return base64.b64decode(b"".join(content.split()), validate=True)
    except binascii.Error:
        return None


def _is(archive: bytes, made: LoggedResult) -> bool:
    return len(archive) == made.size and hashlib.sha256(archive).hexdigest() == made.sha256


def _cut(made: LoggedResult) -> str:
    return f"its pod's log isn't the result of {made.size} bytes that its judge wrote"
