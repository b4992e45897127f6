"""The routes of Kubernetes' API that we use, each with what its statuses mean."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, NoReturn, TypeVar

from pydantic import ValidationError

from kernelbot.domain.errors import (
    DeviceRefused,
    JobRefused,
    KernelbotError,
    NoRoom,
    PlatformError,
    SchedulerError,
)
from kernelbot.launchers.kubernetes.answers import (
    Bookmark,
    Change,
    ChangeType,
    KubernetesEvent,
    KubernetesJob,
    KubernetesNode,
    KubernetesObject,
    ObjectList,
    Pod,
    Quota,
    Status,
)
from kernelbot.launchers.kubernetes.credentials import ClusterCredentials
from kernelbot.launchers.kubernetes.manifest import JUDGE_CONTAINER, MANAGED_BY, OURS, Body
from kernelbot.launchers.rest.client import Http, HttpAnswer, NotStreamed, SchedulerAnswer, read

KUBERNETES = "Kubernetes"
_PAGE = 200
_MOST_PAGES = 100
_TRIES = 3
_LONGEST_WAIT_S = 10.0
"""For a limit to be over; a longer one is an error."""
_WATCH_SLACK_S = 10.0
_MAX_LINE_BYTES = 4 << 20
"""The cluster stores no larger object."""
_MAX_SAID = 300
_HEADERS = {"Accept": "application/json", "User-Agent": "kernelbot"}
_TOO_LARGE = 413
_ALL_ALIKE = frozenset((400, 403, 404, 405, 422))
"""Statuses of a Job or a Secret that isn't made which say nothing of this one."""
_OURS = frozenset((400, 403, 404, 405, 413, 422))
"""Statuses that say we have asked for something wrong."""
I = TypeVar("I", bound=KubernetesObject)  # noqa: E741  # an item
S = TypeVar("S", bound=SchedulerAnswer)


class Expired(SchedulerError):
    """The cluster doesn't remember any more what has changed since then: begin with a list."""


class _Forbidden(PlatformError):
    """Our account may not do this."""


class DeletionPropagation(StrEnum):
    """What a deletion does to what goes with an object."""

    FOREGROUND = "Foreground"
    """The object stays until all of it is gone."""
    BACKGROUND = "Background"


class ChangeKind(StrEnum):
    """What a watch tells."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"
    ERROR = "ERROR"


@dataclass(frozen=True)
class ObjectKind(Generic[I]):
    """A kind of objects in our namespace."""

    group: str
    name: str
    listed: type[ObjectList[I]]
    changed: type[Change[I]]


JOBS = ObjectKind("/apis/batch/v1", "jobs", ObjectList[KubernetesJob], Change[KubernetesJob])
PODS = ObjectKind("/api/v1", "pods", ObjectList[Pod], Change[Pod])
_SECRETS = "secrets"
_SIZE = "Too long"
"""What is said of a Secret with too much in it."""


@dataclass(frozen=True)
class ObjectSnapshot(Generic[I]):
    """All objects of a kind that are ours."""

    items: tuple[I, ...]
    version: str
    """From where a watch may go on."""


@dataclass(frozen=True)
class ObjectChange(Generic[I]):
    """A change. `item` None: only the version is new."""

    version: str
    item: I | None = None
    deleted: bool = False


class KubernetesApi:
    """One namespace of a cluster. Every method raises `SchedulerError` if the cluster fails or
    limits us, and `PlatformError` if it won't let us do what we ask. A limit that ends soon is
    waited for."""

    def __init__(self, credentials: ClusterCredentials, namespace: str, timeout_s: float) -> None:
        self._token = credentials.token
        self._namespace = namespace
        self._http = Http(KUBERNETES, credentials.server, timeout_s, credentials.verify)

    async def close(self) -> None:
        """End all connections."""
        await self._http.close()

    async def create_job(self, body: Body) -> KubernetesJob | None:
        """The new Job; None: there is one of its name. Raises `JobRefused`, `DeviceRefused` and
        `NoRoom`."""
        path = self._path(JOBS.group, JOBS.name)
        strictly = {"fieldValidation": "Strict"}  # an old cluster would ignore what it doesn't know
        answer = await self._send("POST", path, params=strictly, body=body)
        if answer.status == 409:
            return None
        self._must_create(answer, "Job")
        return read(KubernetesJob, answer, KUBERNETES, "a new Job")

    async def create_secret(self, body: Body) -> None:
        """Nothing happens if there is one of its name. Raises what `create_job` does."""
        answer = await self._send("POST", self._path("/api/v1", _SECRETS), body=body)
        if answer.status == 409:
            return
        self._must_create(answer, "Secret")

    async def job(self, name: str) -> KubernetesJob | None:
        """One Job; None: there is none of this name."""
        answer = await self._send("GET", self._path(JOBS.group, f"{JOBS.name}/{name}"))
        if _is_missing(answer):
            return None
        self._must(answer, 200, "reading a Job")
        return read(KubernetesJob, answer, KUBERNETES, "a Job")

    async def delete_job(
        self, name: str, uid: str, ending: DeletionPropagation, version: str = ""
    ) -> bool:
        """Delete this very Job, as it was at `version` if that is given; False: it has changed
        since, or another has its name. Nothing happens if it is gone."""
        conditions = {"uid": uid, **({"resourceVersion": version} if version else {})}
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": ending.value,
            "preconditions": conditions,
        }
        path = self._path(JOBS.group, f"{JOBS.name}/{name}")
        answer = await self._send("DELETE", path, body=body)
        if answer.status == 409:
            return False
        if not _is_missing(answer) and answer.status != 202:
            self._must(answer, 200, "deleting a Job")
        return True

    async def log(self, pod: str, most_bytes: int) -> bytes | None:
        """The beginning of what the judge's container printed; None: the pod is gone. May have a
        little more than `most_bytes`, if there is more."""
        path = self._path("/api/v1", f"pods/{pod}/log")
        params = {"container": JUDGE_CONTAINER, "limitBytes": str(most_bytes + 1)}
        answer = await self._send("GET", path, params=params, max_bytes=most_bytes + (1 << 16))
        if _is_missing(answer):
            return None
        self._must(answer, 200, "reading a pod's log")
        return answer.content

    async def snapshot(self, kind: ObjectKind[I]) -> ObjectSnapshot[I]:
        """All that is ours now. Raises `Expired`."""
        path, ours = self._path(kind.group, kind.name), {"labelSelector": f"{MANAGED_BY}={OURS}"}
        parts = await self._parts(kind.listed, path, kind.name, ours)
        return ObjectSnapshot(_items(parts), parts[-1].meta.version)

    async def watch(
        self, kind: ObjectKind[I], version: str, limit_s: float
    ) -> AsyncGenerator[ObjectChange[I], None]:
        """What changes from `version` on, for so long. Raises `Expired`."""
        params = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "labelSelector": f"{MANAGED_BY}={OURS}",
            "resourceVersion": version,
            "timeoutSeconds": str(max(int(limit_s), 1)),
        }
        stream = self._http.lines(
            self._path(kind.group, kind.name),
            headers={**_HEADERS, **await self._token.headers()},
            params=params,
            limit_s=limit_s + _WATCH_SLACK_S,
            max_bytes=_MAX_LINE_BYTES,
        )
        try:
            async with aclosing(stream) as lines:
                async for line in lines:
                    if line.strip():
                        yield _news(kind, line)
        except NotStreamed as error:
            if error.answer.status == 401:
                self._token.refused()
            self._fail(error.answer, f"watching {kind.name}")

    async def nodes(self) -> tuple[KubernetesNode, ...] | None:
        """The cluster's; None: our account may not see them."""
        return await self._visible(ObjectList[KubernetesNode], "/api/v1/nodes", "nodes")

    async def quotas(self) -> tuple[Quota, ...] | None:
        """The namespace's; None: our account may not see them."""
        path = self._path("/api/v1", "resourcequotas")
        return await self._visible(ObjectList[Quota], path, "quotas")

    async def why_no_pod(self, job_uid: str) -> str:
        """Why a Job's pod can't be made, by the last event that says so; empty: none does."""
        path = self._path("/api/v1", "events")
        params = {"fieldSelector": f"involvedObject.uid={job_uid},reason=FailedCreate"}
        found = await self._visible(ObjectList[KubernetesEvent], path, "events", params)
        return (found[-1].message or "")[:_MAX_SAID] if found else ""

    async def _visible(
        self,
        kind: type[ObjectList[S]],
        path: str,
        what: str,
        params: Mapping[str, str] | None = None,
    ) -> tuple[S, ...] | None:
        try:
            return _items(await self._parts(kind, path, what, params or {}))
        except _Forbidden:
            return None

    async def _parts(
        self, kind: type[ObjectList[S]], path: str, what: str, params: Mapping[str, str]
    ) -> list[ObjectList[S]]:
        """A list in parts, one at least: all nodes of a large cluster are too long for one answer.
        Raises `Expired`."""
        parts: list[ObjectList[S]] = []
        more = ""
        for _ in range(_MOST_PAGES):
            asked = {**params, "limit": str(_PAGE), **({"continue": more} if more else {})}
            answer = await self._send("GET", path, params=asked)
            self._must(answer, 200, f"listing {what}")
            parts.append(read(kind, answer, KUBERNETES, f"a list of {what}"))
            more = parts[-1].meta.more or ""
            if not more:
                return parts
        raise SchedulerError(f"Kubernetes lists more than {_MOST_PAGES * _PAGE} {what}.")

    async def _send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Body | None = None,
        max_bytes: int | None = None,
    ) -> HttpAnswer:
        """The answer, whatever its status, if it isn't a limit that ends soon or an old token."""

        async def ask() -> HttpAnswer:
            headers = {**_HEADERS, **await self._token.headers()}
            if max_bytes is None:
                return await self._http.request(
                    method, path, headers=headers, params=params, body=body
                )
            return await self._http.request(
                method, path, headers=headers, params=params, body=body, max_bytes=max_bytes
            )

        return await self._tried(ask)

    async def _tried(self, ask: Callable[[], Awaitable[HttpAnswer]]) -> HttpAnswer:
        for tries_left in reversed(range(_TRIES)):
            answer = await ask()
            if answer.status == 401 and tries_left:
                self._token.refused()
                continue
            wait_s = _retry_after_s(answer)
            if wait_s is None or not tries_left:
                return answer
            await asyncio.sleep(wait_s)
        raise AssertionError("the last answer is returned")

    def _must_create(self, answer: HttpAnswer, what: str) -> None:
        """A policy, a quota or the manifest refuses all objects of a device; only a Secret's size
        is the job's own."""
        said = _message(answer)
        if answer.status == 403 and "exceeded quota" in said:
            raise NoRoom(f"Kubernetes has no room for a {what}: {said}")
        if answer.status == _TOO_LARGE or (answer.status == 422 and _SIZE in said):
            raise JobRefused(f"Kubernetes refused the {what}: {said}")
        if answer.status in _ALL_ALIKE:
            raise DeviceRefused(f"Kubernetes refused the {what}: {said}")
        self._must(answer, 201, f"creating a {what}")

    def _must(self, answer: HttpAnswer, status: int, doing: str) -> None:
        if answer.status != status:
            self._fail(answer, doing)

    def _fail(self, answer: HttpAnswer, doing: str) -> NoReturn:
        said = _message(answer)
        if answer.status == 410:
            raise Expired(f"Kubernetes has forgotten what changed: {said}")
        if answer.status == 401:
            raise PlatformError("Kubernetes doesn't accept our token: give the launcher another.")
        raise _error(f"Kubernetes answered {answer.status} to {doing}: {said}", answer.status)

    def _path(self, group: str, rest: str) -> str:
        return f"{group}/namespaces/{self._namespace}/{rest}"


def _error(sentence: str, status: int) -> KernelbotError:
    if status == 403:
        return _Forbidden(sentence)
    return PlatformError(sentence) if status in _OURS else SchedulerError(sentence)


def _items(parts: Iterable[ObjectList[S]]) -> tuple[S, ...]:
    return tuple(item for part in parts for item in part.items)


def _message(answer: HttpAnswer) -> str:
    try:
        said = Status.model_validate_json(answer.content).message
    except ValidationError:
        said = None
    return (said or answer.excerpt)[:_MAX_SAID]


def _is_missing(answer: HttpAnswer) -> bool:
    """Whether the object isn't there; a proxy's page that says 404 is another thing."""
    if answer.status != 404:
        return False
    try:
        return Status.model_validate_json(answer.content).reason == "NotFound"
    except ValidationError:
        return False


def _retry_after_s(answer: HttpAnswer) -> float | None:
    """After which time to ask again; None: the answer stands."""
    said = answer.headers.get("retry-after", "")
    if answer.status not in (429, 503) or not (said.isascii() and said.isdigit()):
        return None
    return float(said) if len(said) < 6 and float(said) <= _LONGEST_WAIT_S else None


def _news(kind: ObjectKind[I], line: bytes) -> ObjectChange[I]:
    try:
        change = ChangeType.model_validate_json(line).type
        if change == ChangeKind.ERROR:
            _raise_status(Change[Status].model_validate_json(line).object)
        if change == ChangeKind.BOOKMARK:
            return ObjectChange(Change[Bookmark].model_validate_json(line).object.meta.version)
        item = kind.changed.model_validate_json(line).object
        deleted = ChangeKind(change) is ChangeKind.DELETED
    except ValueError:
        excerpt = repr(line[:120].decode("utf-8", "replace"))
        raise SchedulerError(f"Kubernetes sent {excerpt} instead of a change.") from None
    return ObjectChange(item.meta.version, item, deleted)


def _raise_status(status: Status) -> NoReturn:
    said = (status.message or status.reason or "no reason")[:_MAX_SAID]
    if status.code == 410 or status.reason in ("Expired", "Gone"):
        raise Expired(f"Kubernetes has forgotten what changed: {said}")
    raise SchedulerError(f"Kubernetes ended a watch: {said}")
