"""Where schedulers keep artifacts: a host of its own, which wants nobody's token."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fakes.serving import Request, Response, serving


@dataclass
class FakeStorage:
    """What lies there, by signed URL."""

    url: str = ""
    blobs: dict[str, bytes] = field(default_factory=dict)
    leaked: list[str] = field(default_factory=list)
    """Tokens that were sent here, which are none of its business."""
    down: bool = False

    def sign(self, content: bytes) -> str:
        """A URL for a moment."""
        path = f"/blob/{secrets.token_hex(8)}"
        self.blobs[path] = content
        return f"{self.url}{path}?sig={secrets.token_hex(8)}"

    def answer(self, request: Request) -> Response:
        """GET, without credentials."""
        if token := request.headers.get("authorization"):
            self.leaked.append(token)
            return Response(400, b"<Error><Code>InvalidAuthenticationInfo</Code></Error>")
        if self.down:
            return Response(503, b"<html>busy</html>")
        content = self.blobs.get(request.path)
        return Response(404) if content is None else Response(200, content)


@contextmanager
def fake_storage() -> Iterator[FakeStorage]:
    """Serves until the end of the block."""
    storage = FakeStorage()
    with serving(storage.answer, "fake storage") as url:
        storage.url = url
        yield storage
