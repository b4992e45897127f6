"""The client that waits for each answer."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from kernelbot.client.answers import Received, expect_success, written_to
from kernelbot.client.calls import API, Request, Steps, Synchronous
from kernelbot.client.endpoint import Endpoint
from kernelbot.client.errors import Refused, Unreachable
from kernelbot.client.every import EveryCall
from kernelbot.client.following import FollowedEvents, OnBroken, OnQueue
from kernelbot.client.organisers import OrganiserCalls
from kernelbot.client.sse import SseParser
from kernelbot.client.tokens import LocalToken, OwnToken, TokenSource

if TYPE_CHECKING:
    import httpx

    from kernelbot.client.direct import Answer, Direct
    from kernelbot.client.over_httpx import OverHttpx
    from kernelbot.submissions.model import SubmissionEvent

T = TypeVar("T")
TIMEOUT_S = 60.0


class KernelbotClient(Synchronous, EveryCall):
    """Talks to one server; use it in a `with` block. Every method raises `Refused`,
    `Unreachable` or `BadAnswer`, or `UserError` (pydantic's `ValidationError` for a body) for what
    can't be sent. It may be used from one thread at a time."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        self.url = url
        self._http = connected(url, OwnToken(token), timeout_s, transport)

    @classmethod
    def to(cls, endpoint: Endpoint) -> "KernelbotClient":
        """A client for a server that was found. If that is a `kernelbot serve` of this account, it
        may be started again meanwhile."""
        client = cls(endpoint.url, endpoint.token)
        if endpoint.has_local_token:
            client._http = connected(endpoint.url, LocalToken(endpoint))
        return client

    def __enter__(self) -> "KernelbotClient":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    @property
    def organise(self) -> "Organiser":
        """What organisers do."""
        return Organiser(self)

    def events(
        self,
        submission_id: int,
        *,
        after: int = 0,
        patience_s: float = 60.0,
        on_queue: OnQueue | None = None,
        on_broken: OnBroken | None = None,
    ) -> "Iterator[SubmissionEvent]":
        """All events of a submission with an id above `after`, then those to come, until its
        last. A broken connection is resumed where it broke, for `patience_s`: a server that isn't
        back by then is `Unreachable`. `on_queue` is called with each new place in the queue (1 is
        next) while the submission waits; `on_broken` once each time that the server is away, when
        it couldn't be reached again at the first try."""
        following = FollowedEvents(after, patience_s, on_queue, on_broken)
        while True:
            try:
                with self._open_stream(submission_id, following.after) as response:
                    following.opened()
                    parser = SseParser()
                    for piece in response.iter_bytes():
                        yield from following.events(parser.feed(piece))
                        if following.is_over:
                            return
            except (Unreachable, Refused) as error:
                following.failed(error)
            time.sleep(following.next_pause_s())

    @contextmanager
    def _open_stream(self, submission_id: int, after: int) -> "Iterator[httpx.Response | Answer]":
        headers = {"Last-Event-ID": str(after), "Accept": "text/event-stream"}
        path = f"{API}/submissions/{submission_id}/events"
        with self._http.stream("GET", path, headers=headers) as response:
            if not response.is_success:
                response.read()
            expect_success(response)
            yield response

    def perform(self, asked: Request[T] | Steps[T]) -> T:
        """Send what a method describes."""
        if isinstance(asked, Request):
            return self._sent(asked)
        answer: Any = None
        while True:
            try:
                request = asked.send(answer)
            except StopIteration as end:
                found: T = end.value
                return found
            answer = self._sent(request)

    def _sent(self, request: Request[T]) -> T:
        if request.file is not None:
            return request.read(self._written(request))
        return request.read(self._http.request(request.method, request.path, **request.content))

    def _written(self, request: Request[T]) -> Received:
        assert request.file is not None
        with self._http.stream(request.method, request.path, **request.content) as response:
            if not response.is_success:
                response.read()
            expect_success(response)
            with written_to(request.file) as write:
                for piece in response.iter_bytes():
                    write(piece)
        return response


def connected(
    url: str,
    tokens: TokenSource,
    timeout_s: float = TIMEOUT_S,
    transport: "httpx.BaseTransport | None" = None,
) -> "Direct | OverHttpx":
    """Without httpx, unless it is needed: it takes longer to load than most requests take."""
    from kernelbot.client.direct import Direct, can_be_direct

    if transport is None and can_be_direct(url):
        return Direct(url, tokens, timeout_s)
    from kernelbot.client.over_httpx import OverHttpx

    return OverHttpx(url, tokens, timeout_s, transport)


class Organiser(Synchronous, OrganiserCalls):
    """What organisers ask by a client."""

    def __init__(self, client: KernelbotClient) -> None:
        self._client = client

    def perform(self, asked: Request[T] | Steps[T]) -> T:
        """Send it by the client."""
        return self._client.perform(asked)
