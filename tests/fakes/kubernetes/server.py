"""The routes of the API, with what can go wrong with each."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.kubernetes.cluster import FakeCluster
from tests.fakes.kubernetes.facts import Wire, mistakes
from tests.fakes.kubernetes.rights import granted
from tests.fakes.kubernetes.rules import refused
from tests.fakes.kubernetes.store import Change
from tests.fakes.serving import Request, Response, serving

NAMESPACE = "kernelbot-jobs"
TOKEN = "right.token"
MAX_SECRET_BYTES = 1 << 20
_KINDS = {"jobs": "Job", "pods": "Pod", "secrets": "Secret"}
_LABEL = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "AlreadyExists",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
}


@dataclass
class FakeKubernetes:
    """One namespace. Whatever a test wants to go wrong is set here."""

    cluster: FakeCluster
    url: str = ""
    tokens: set[str] = field(default_factory=lambda: {TOKEN})
    rights: set[tuple[str, str]] = field(default_factory=granted)
    used: set[tuple[str, str]] = field(default_factory=set)
    """Rights that a request needed."""
    wrong: Callable[[Request], Response | None] = lambda _: None
    """Answers instead of Kubernetes, if it wants to."""
    creations_fail: list[str] = field(default_factory=list)
    """What becomes of the next Jobs: `before` or `after` they were made."""
    watches_say: bool = True
    """False: watches say no word, and don't end before their time."""
    page: int = 500
    requests: list[tuple[str, str]] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    """Of answers of its own, which no test may see."""

    def answer(self, request: Request) -> Response:
        """Everything goes through here."""
        self.requests.append((request.method, request.path))
        if (wrong := self.wrong(request)) is not None:
            return wrong
        if request.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return status(401, "Unauthorized")
        if (need := _need(request)) is None:
            return status(404, "the server could not find the requested resource", reason="")
        self.used.add(need)
        if need not in self.rights:
            return status(403, f"{need[1]} is forbidden: cannot {need[0]} resource")
        with self.cluster.store.lock:
            return self._route(request, need[0], need[1])

    def asked(self, method: str, ending: str) -> int:
        """How many requests there were of this kind."""
        return sum(m == method and path.endswith(ending) for m, path in self.requests)

    def job(self, handle: str) -> Wire:
        """The Job of a handle."""
        uid = handle.partition(":")[0]
        return next(
            job for job in self.cluster.store.list_kind("Job") if job["metadata"]["uid"] == uid
        )

    def _route(self, request: Request, verb: str, resource: str) -> Response:
        routes: dict[tuple[str, str], Callable[[Request], Response]] = {
            ("create", "jobs"): self._create_job,
            ("create", "secrets"): self._create_secret,
            ("get", "jobs"): self._get_job,
            ("delete", "jobs"): self._delete_job,
            ("get", "pods/log"): self._log,
            ("list", "nodes"): lambda asked: self._part_of(asked, "NodeList", self.cluster.nodes),
            ("list", "resourcequotas"): lambda _: self._list_of(
                "ResourceQuotaList", self.cluster.quotas
            ),
            ("list", "events"): self._events,
        }
        if (route := routes.get((verb, resource))) is not None:
            return route(request)
        watches = verb == "watch"
        return self._watch(request, resource) if watches else self._list(request, resource)

    def _read(self, request: Request, kind: str) -> Wire | Response:
        """The body, if it is one."""
        try:
            body: Wire = json.loads(request.body)
        except ValueError:
            return status(400, "the body is no JSON")
        if wrong := mistakes(kind, body):
            return status(400, f"strict decoding error: {'; '.join(wrong)}")
        meta = body.get("metadata", {})
        bad = [text for text in meta.get("labels", {}).values() if not _LABEL.fullmatch(text)]
        if kind != "DeleteOptions" and (bad or not _NAME.fullmatch(meta.get("name", ""))):
            return status(422, f"metadata: Invalid value: {bad or meta.get('name')}")
        return body

    def _create_job(self, request: Request) -> Response:
        body = self._read(request, "Job")
        if isinstance(body, Response):
            return body
        if request.query.get("fieldValidation") != "Strict":
            self.mistakes.append("a Job was created whose fields nobody would have checked")
        if wrong := refused(body["spec"]["template"]["spec"]):
            return status(422, f"Job {body['metadata']['name']!r} is invalid: {wrong}")
        failure = self.creations_fail.pop(0) if self.creations_fail else ""
        if failure == "before":
            return Response(502, b"<html>bad gateway</html>")
        if ("Job", body["metadata"]["name"]) in self.cluster.store.objects:
            return status(409, f"jobs {body['metadata']['name']!r} already exists")
        job = self.cluster.create_job(body)
        if failure == "after":
            return Response(502, b"<html>bad gateway</html>")
        return self._json(201, "Job", job)

    def _create_secret(self, request: Request) -> Response:
        body = self._read(request, "Secret")
        if isinstance(body, Response):
            return body
        if sum(map(len, body["stringData"].values())) > MAX_SECRET_BYTES:
            return status(422, "data: Too long: may not be more than 1048576 bytes")
        if ("Secret", body["metadata"]["name"]) in self.cluster.store.objects:
            return status(409, "secrets already exists")
        return self._json(201, "Secret", self.cluster.store.add("Secret", body))

    def _named(self, request: Request) -> Wire | None:
        return self.cluster.store.objects.get(("Job", request.path.rpartition("/")[2]))

    def _get_job(self, request: Request) -> Response:
        job = self._named(request)
        return status(404, "jobs not found") if job is None else self._json(200, "Job", job)

    def _delete_job(self, request: Request) -> Response:
        body = self._read(request, "DeleteOptions")
        if isinstance(body, Response):
            return body
        if (job := self._named(request)) is None:
            return status(404, "jobs not found")
        wanted = body.get("preconditions", {})
        if any(job["metadata"][name] != value for name, value in wanted.items()):
            return status(409, "the precondition isn't met", reason="Conflict")
        self.cluster.delete_job(job, body["propagationPolicy"])
        return self._json(200, "Job", job)

    def _log(self, request: Request) -> Response:
        found = self.cluster.log(request.path.split("/")[-2], request.query["container"])
        if found is None:
            return status(404, "pods not found")
        return Response(200, found[: int(request.query["limitBytes"])])

    def _events(self, request: Request) -> Response:
        wanted = dict(part.split("=") for part in request.query["fieldSelector"].split(","))
        found = [
            event
            for event in self.cluster.events
            if event["involvedObject"]["uid"] == wanted["involvedObject.uid"]
            and event["reason"] == wanted["reason"]
        ]
        return self._list_of("CoreV1EventList", found)

    def _list(self, request: Request, resource: str) -> Response:
        found = [
            each for each in self.cluster.store.list_kind(_KINDS[resource]) if _fits(request, each)
        ]
        return self._part_of(request, f"{_KINDS[resource]}List", found)

    def _part_of(self, request: Request, kind: str, found: list[Wire]) -> Response:
        """As much of a list as was asked for, and no more than a page."""
        size = min(int(request.query.get("limit", len(found))), self.page)
        start = int(request.query.get("continue", "0"))
        more = str(start + size) if len(found) > start + size else ""
        return self._list_of(kind, found[start : start + size], more)

    def _list_of(self, kind: str, items: list[Wire], more: str = "") -> Response:
        meta = {"resourceVersion": str(self.cluster.store.version), "continue": more}
        return self._json(200, kind, {"kind": kind, "metadata": meta, "items": items})

    def _watch(self, request: Request, resource: str) -> Response:
        version = int(request.query["resourceVersion"])
        if version < self.cluster.store.forgotten:
            return status(410, "too old resource version")
        return Response(200, stream=self._changes(request, resource, version))

    def _changes(self, request: Request, resource: str, version: int) -> Iterator[bytes]:
        store, for_s = self.cluster.store, float(request.query["timeoutSeconds"])
        for change in store.since(_KINDS[resource], version, for_s):
            if not self.watches_say:
                continue
            if change.version <= store.forgotten:
                yield _line("ERROR", _status(410, "too old resource version"))
                return
            if _fits(request, change.object):
                yield self._told(change)
        if self.watches_say and request.query.get("allowWatchBookmarks") == "true":
            meta = {"resourceVersion": str(store.version), "creationTimestamp": None}
            yield _line("BOOKMARK", {"kind": _KINDS[resource], "metadata": meta})

    def _told(self, change: Change) -> bytes:
        self.mistakes += mistakes(change.kind, change.object)
        self.mistakes += mistakes("WatchEvent", {"type": change.type, "object": change.object})
        return _line(change.type, change.object)

    def _json(self, code: int, kind: str, document: Wire) -> Response:
        self.mistakes += mistakes(kind, document)
        return _json(code, document)


def _need(request: Request) -> tuple[str, str] | None:
    """The verb and the resource that a request is about, as rights name them."""
    groups = {"jobs": "/apis/batch/v1", "nodes": "/api/v1"}
    path, named = request.path, False
    prefix = f"{'/apis/batch/v1' if path.startswith('/apis') else '/api/v1'}"
    parts = path.removeprefix(f"{prefix}/").removeprefix(f"namespaces/{NAMESPACE}/").split("/")
    resource, named = parts[0], len(parts) > 1
    if groups.get(resource, "/api/v1") != prefix or len(parts) > 3:
        return None
    if len(parts) == 3:
        resource = f"{resource}/{parts[2]}"
    if request.method == "GET" and request.query.get("watch") == "true":
        return ("watch", resource)
    verbs = {"POST": "create", "DELETE": "delete", "GET": "get" if named else "list"}
    return (verbs[request.method], resource)


def _fits(request: Request, each: Wire) -> bool:
    labels = each["metadata"].get("labels", {})
    wanted = filter(None, request.query.get("labelSelector", "").split(","))
    return all(labels.get(name) == value for name, _, value in (w.partition("=") for w in wanted))


def _status(code: int, message: str, reason: str | None = None) -> Wire:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": _REASONS[code] if reason is None else reason,
        "code": code,
    }


def status(
    code: int, message: str, reason: str | None = None, headers: dict[str, str] | None = None
) -> Response:
    """A refusal, as Kubernetes writes it."""
    document = _status(code, message, reason)
    assert mistakes("Status", document) == []
    answer = _json(code, document)
    return Response(code, answer.body, {**answer.headers, **(headers or {})})


def _json(code: int, document: Wire) -> Response:
    return Response(code, json.dumps(document).encode(), {"Content-Type": "application/json"})


def _line(change: str, document: Wire) -> bytes:
    return json.dumps({"type": change, "object": document}).encode() + b"\n"


@contextmanager
def fake_kubernetes(folder: Path, harness: Path, **options: Any) -> Iterator[FakeKubernetes]:
    """Serves until the end of the block, with its node below the folder; `options` are those of
    `FakeCluster`."""
    cluster = FakeCluster(folder, harness, **options)
    kubernetes = FakeKubernetes(cluster)
    with serving(kubernetes.answer, "fake kubernetes") as url:
        kubernetes.url = url
        try:
            yield kubernetes
        finally:
            cluster.close()
