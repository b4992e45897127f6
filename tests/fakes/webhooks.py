"""A receiver of webhooks, on loopback, that checks signatures as any receiver does."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from standardwebhooks import Webhook

from tests.fakes.serving import Request, Response, serving


@dataclass(frozen=True)
class Received:
    """A message whose signature was right, or could not be checked yet."""

    message_id: str
    event: str
    data: dict[str, Any]


@dataclass
class FakeReceiver:
    """`answer` is what it says, and may wait for `release`; `secret` None: nothing is checked."""

    url: str = ""
    secret: str | None = None
    answer: Callable[[], Response] = Response
    release: Callable[[], None] = lambda: None
    received: list[Received] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, request: Request) -> Response:
        """Check a message and keep it. Raises what the library raises for a wrong signature."""
        if self.secret is not None:
            Webhook(self.secret).verify(request.body, dict(request.headers.items()))
        said = json.loads(request.body)
        with self.changed:
            message_id = request.headers["webhook-id"]
            self.received.append(Received(message_id, said["type"], said["data"]))
            self.changed.notify_all()
        return self.answer()

    def wait_for(self, count: int, within_s: float = 60.0) -> list[Received]:
        """What has come, once there are so many."""
        end_s = time.monotonic() + within_s
        with self.changed:
            while len(self.received) < count:
                assert self.changed.wait(end_s - time.monotonic()), self.received
            return list(self.received)


@contextmanager
def fake_receiver() -> Iterator[FakeReceiver]:
    """Receives until the end of the block."""
    receiver = FakeReceiver()
    with serving(receiver.take, "fake receiver of webhooks") as url:
        receiver.url = f"{url}/hook"
        yield receiver
