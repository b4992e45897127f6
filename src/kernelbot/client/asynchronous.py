"""The client whose answers are awaited."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from kernelbot.client.answers import expect_success, written_to
from kernelbot.client.calls import API, Asynchronous, Request, Steps
from kernelbot.client.endpoint import Endpoint
from kernelbot.client.errors import Refused, Unreachable
from kernelbot.client.every import EveryCall
from kernelbot.client.following import FollowedEvents, OnBroken, OnQueue
from kernelbot.client.organisers import OrganiserCalls
from kernelbot.client.over_httpx import Credentials, connecting, talking, trusted
from kernelbot.client.sse import SseParser
from kernelbot.client.tokens import LocalToken, OwnToken
from kernelbot.protocol.loopback import is_loopback

if TYPE_CHECKING:
    from kernelbot.submissions.model import SubmissionEvent

T = TypeVar("T")


class AsyncKernelbotClient(Asynchronous, EveryCall):
    """Talks to one server; use it in an `async with` block of one event loop. Its methods are those
    of `KernelbotClient`, each to be awaited, and raise the same. Several may wait at once."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = 60.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.url = url
        with connecting(url):
            self._http = httpx.AsyncClient(
                base_url=url,
                auth=Credentials(OwnToken(token)),
                verify=trusted(url),
                trust_env=not is_loopback(url),
                timeout=timeout_s,
                transport=transport,
            )

    @classmethod
    def to(cls, endpoint: Endpoint) -> "AsyncKernelbotClient":
        """A client for a server that was found. If that is a `kernelbot serve` of this account, it
        may be started again meanwhile."""
        if not endpoint.has_local_token:
            return cls(endpoint.url, endpoint.token)
        client = cls(endpoint.url)
        client._http.auth = Credentials(LocalToken(endpoint))
        return client

    async def __aenter__(self) -> "AsyncKernelbotClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    @property
    def organise(self) -> "AsyncOrganiser":
        """What organisers do."""
        return AsyncOrganiser(self)

    async def events(
        self,
        submission_id: int,
        *,
        after: int = 0,
        patience_s: float = 60.0,
        on_queue: OnQueue | None = None,
        on_broken: OnBroken | None = None,
    ) -> "AsyncIterator[SubmissionEvent]":
        """The events of a submission, as `KernelbotClient.events` gives them."""
        following = FollowedEvents(after, patience_s, on_queue, on_broken)
        while True:
            try:
                async with self._open_stream(submission_id, following.after) as response:
                    following.opened()
                    parser = SseParser()
                    async for piece in response.aiter_bytes():
                        for event in following.events(parser.feed(piece)):
                            yield event
                        if following.is_over:
                            return
            except (Unreachable, Refused) as error:
                following.failed(error)
            await asyncio.sleep(following.next_pause_s())

    @asynccontextmanager
    async def _open_stream(self, submission_id: int, after: int) -> AsyncIterator[httpx.Response]:
        headers = {"Last-Event-ID": str(after), "Accept": "text/event-stream"}
        path = f"{API}/submissions/{submission_id}/events"
        with talking(self.url):
            async with self._http.stream("GET", path, headers=headers) as response:
                if not response.is_success:
                    await response.aread()
                expect_success(response)
                yield response

    async def perform(self, asked: Request[T] | Steps[T]) -> T:
        """Send what a method describes."""
        if isinstance(asked, Request):
            return await self._sent(asked)
        answer: Any = None
        while True:
            try:
                request = asked.send(answer)
            except StopIteration as end:
                found: T = end.value
                return found
            answer = await self._sent(request)

    async def _sent(self, request: Request[T]) -> T:
        if request.file is not None:
            return request.read(await self._written(request))
        with talking(self.url):
            response = await self._http.request(request.method, request.path, **request.content)
        return request.read(response)

    async def _written(self, request: Request[T]) -> httpx.Response:
        assert request.file is not None
        with talking(self.url):
            async with self._http.stream(
                request.method, request.path, **request.content
            ) as response:
                if not response.is_success:
                    await response.aread()
                expect_success(response)
                with written_to(request.file) as write:
                    async for piece in response.aiter_bytes():
                        write(piece)
        return response


class AsyncOrganiser(Asynchronous, OrganiserCalls):
    """What organisers ask by a client."""

    def __init__(self, client: AsyncKernelbotClient) -> None:
        self._client = client

    async def perform(self, asked: Request[T] | Steps[T]) -> T:
        """Send it by the client."""
        return await self._client.perform(asked)
