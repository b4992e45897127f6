"""The platform's own links for nodes, served from memory."""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kernelbot.launchers.links import NodeLinks
from kernelbot.protocol import JobSpec, encode_payload
from tests.fakes.serving import Request, Response, serving


@dataclass(frozen=True)
class LinksElsewhere:
    """See `Links`. Can be pickled."""

    url: str
    secret: str
    sha256: str
    live: bool

    def for_job(self, job_id: str, valid_s: float) -> NodeLinks:
        return NodeLinks(
            f"{self.url}/payload/{job_id}?key={self.secret}",
            f"{self.url}/events/{job_id}?key={self.secret}" if self.live else "",
            f"{self.url}/harness.pyz",
            self.sha256,
        )


@dataclass
class FakeLinks:
    """See `Links`. What a test puts into `jobs` can be fetched."""

    harness: bytes
    url: str = ""
    live: bool = True
    """Whether progress can be sent here."""
    jobs: dict[str, JobSpec] = field(default_factory=dict)
    events: dict[str, list[bytes]] = field(default_factory=dict)
    """Bodies by job."""
    fetched: list[str] = field(default_factory=list)
    """Paths."""
    valid_s: list[float] = field(default_factory=list)
    broken: int = 0
    """How many answers fail yet."""
    _secret: str = field(default_factory=lambda: secrets.token_hex(8), repr=False)

    def for_job(self, job_id: str, valid_s: float) -> NodeLinks:
        self.valid_s.append(valid_s)
        return self.elsewhere().for_job(job_id, valid_s)

    def elsewhere(self) -> "LinksElsewhere":
        """As another process has them."""
        sha256 = hashlib.sha256(self.harness).hexdigest()
        return LinksElsewhere(self.url, self._secret, sha256, self.live)

    def answer(self, request: Request) -> Response:
        """The routes behind the links."""
        self.fetched.append(request.path)
        if self.broken:
            self.broken -= 1
            return Response(503)
        if request.path == "/harness.pyz":
            return Response(200, self.harness)
        if request.query.get("key") != self._secret:
            return Response(403)
        what, _, job_id = request.path[1:].partition("/")
        if what == "events":
            self.events.setdefault(job_id, []).append(request.body)
            return Response(204)
        job = self.jobs.get(job_id)
        return Response(404) if job is None else Response(200, encode_payload(job).encode())


@contextmanager
def fake_links(harness: Path) -> Iterator[FakeLinks]:
    """Serves until the end of the block. `harness`: the file that nodes run."""
    links = FakeLinks(harness.read_bytes())
    with serving(links.answer, "fake links") as url:
        links.url = url
        yield links
