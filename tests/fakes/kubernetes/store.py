"""Objects with versions, and what has changed since each."""

import copy
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.fakes.kubernetes.facts import Wire

API_VERSIONS = {"Job": "batch/v1"}


@dataclass(frozen=True)
class Change:
    """What a watch tells."""

    version: int
    type: str
    kind: str
    object: Wire


@dataclass
class Store:
    """By kind and name. Whoever reads or changes has the lock."""

    lock: threading.Condition = field(default_factory=threading.Condition)
    objects: dict[tuple[str, str], Wire] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    version: int = 100
    forgotten: int = 0
    """Before this version nobody knows what changed."""
    closed: bool = False
    time: str = "2026-11-01T10:00:00Z"
    """By the cluster's clock."""

    def add(self, kind: str, made: Wire) -> Wire:
        """A new object."""
        meta = made["metadata"]
        meta |= {"uid": str(uuid.uuid4()), "creationTimestamp": self.time}
        meta["namespace"] = "jobs"
        made = {"apiVersion": API_VERSIONS.get(kind, "v1"), "kind": kind, **made}
        self.objects[kind, meta["name"]] = made
        return self.note("ADDED", kind, made)

    def note(self, change: str, kind: str, what: Wire) -> Wire:
        """It has changed."""
        self.version += 1
        what["metadata"]["resourceVersion"] = str(self.version)
        self.changes.append(Change(self.version, change, kind, copy.deepcopy(what)))
        self.lock.notify_all()
        return what

    def modified(self, kind: str, what: Wire) -> None:
        """Unless it is gone meanwhile."""
        if self.objects.get((kind, what["metadata"]["name"])) is what:
            self.note("MODIFIED", kind, what)

    def remove(self, kind: str, name: str) -> None:
        """It is gone."""
        if (gone := self.objects.pop((kind, name), None)) is not None:
            self.note("DELETED", kind, gone)

    def list_kind(self, kind: str) -> list[Wire]:
        """All of a kind."""
        return [each for (its, _), each in self.objects.items() if its == kind]

    def owned(self, kind: str, uid: str) -> list[Wire]:
        """Those that go with another object."""
        return [
            each
            for each in self.list_kind(kind)
            if any(one["uid"] == uid for one in each["metadata"].get("ownerReferences", ()))
        ]

    def since(self, kind: str, version: int, for_s: float) -> Iterator[Change]:
        """What changes, until the time is over or the store is closed."""
        ends_at = time.monotonic() + for_s
        while True:
            with self.lock:
                new = [each for each in self.changes if each.version > version]
                while not new and not self.closed and time.monotonic() < ends_at:
                    self.lock.wait(max(ends_at - time.monotonic(), 0))
                    new = [each for each in self.changes if each.version > version]
            if not new:
                return
            version = new[-1].version
            yield from (each for each in new if each.kind == kind)

    def close(self) -> None:
        """End all watches."""
        with self.lock:
            self.closed = True
            self.lock.notify_all()
