"""HTTP with a scheduler: every answer is bounded in time and size, and read with suspicion."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urljoin, urlsplit

import httpx
from cachetools import LRUCache
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from kernelbot.domain.errors import SchedulerError

T = TypeVar("T")
MAX_ANSWER_BYTES = 16 << 20
_DOWNLOAD_S = 60.0
_MOST_REDIRECTS = 3
_REQUESTS_AT_ONCE = 8
_DOWNLOADS_AT_ONCE = 4
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_EXCERPT = 120


class TooLarge(SchedulerError):
    """An answer is larger than it may be."""


class NotStreamed(SchedulerError):
    """An answer that should have come line by line has another status than 200."""

    def __init__(self, answer: "HttpAnswer") -> None:
        super().__init__(f"status {answer.status}")
        self.answer = answer


class SchedulerAnswer(BaseModel):
    """Base of what a scheduler says in JSON: the parts that we read, of exactly their types."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


@dataclass(frozen=True)
class HttpAnswer:
    """An answer, whatever its status."""

    status: int
    headers: httpx.Headers
    content: bytes

    @property
    def excerpt(self) -> str:
        """How it begins, for people."""
        return repr(self.content[:_EXCERPT].decode("utf-8", "replace"))


class Http:
    """Requests to one scheduler. What goes with a request, such as a token, is in no error.
    `verify`: by what its certificate is checked; True: as this machine checks others."""

    def __init__(
        self, name: str, url: str, timeout_s: float, verify: ssl.SSLContext | bool = True
    ) -> None:
        self._name = name
        self._url = url.rstrip("/")
        self._timeout_s = timeout_s
        self._verify = verify
        self._client: httpx.AsyncClient | None = None
        self._requests = asyncio.Semaphore(_REQUESTS_AT_ONCE)
        self._downloads = asyncio.Semaphore(_DOWNLOADS_AT_ONCE)

    async def close(self) -> None:
        """End all connections. Idempotent; a later request makes new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def request(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        params: Mapping[str, str] | None = None,
        body: object = None,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> HttpAnswer:
        """One request below the scheduler's URL; redirects aren't followed. Raises `SchedulerError`
        if there is no whole answer in time, `TooLarge`."""
        request = self._open().build_request(
            method, self._url + path, headers=headers, params=params, json=body
        )
        async with self._requests:
            return await self._send(request, max_bytes, self._timeout_s)

    async def download(
        self, path: str, *, headers: Mapping[str, str], max_bytes: int
    ) -> HttpAnswer:
        """What a path leads to: if it leads elsewhere, the headers stay here, because storage is no
        business of our token's. Raises as `request` does."""
        request = self._open().build_request("GET", self._url + path, headers=headers)
        async with self._downloads:
            for _ in range(_MOST_REDIRECTS):
                answer = await self._send(request, max_bytes, _DOWNLOAD_S)
                if answer.status not in _REDIRECTS:
                    return answer
                request = self._build_next(request, answer.headers.get("location", ""))
        raise SchedulerError(f"{self._name} redirects a download again and again.")

    async def lines(
        self,
        path: str,
        *,
        headers: Mapping[str, str],
        params: Mapping[str, str],
        limit_s: float,
        max_bytes: int,
    ) -> AsyncGenerator[bytes, None]:
        """The lines of an answer that goes on, as they come, until it ends or `limit_s` are over:
        then what was said of a line is dropped. No line may have more than `max_bytes`. Raises
        `NotStreamed`, and as `request` does."""
        timeout = httpx.Timeout(self._timeout_s, read=limit_s)
        request = self._open().build_request(
            "GET", self._url + path, headers=headers, params=params, timeout=timeout
        )
        ends_at = asyncio.get_running_loop().time() + limit_s
        try:
            async with asyncio.timeout(self._timeout_s):
                response = await self._open().send(request, stream=True)
            try:
                if response.status_code != 200:
                    async with asyncio.timeout(self._timeout_s):
                        content = await self._read(response, max_bytes)
                    raise NotStreamed(HttpAnswer(response.status_code, response.headers, content))
                async with aclosing(self._split(response, max_bytes, ends_at)) as lines:
                    async for line in lines:
                        yield line
            finally:
                await response.aclose()
        except (TimeoutError, httpx.ConnectTimeout, httpx.PoolTimeout):
            raise SchedulerError(self._too_late(self._timeout_s)) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SchedulerError(self._unreachable(error)) from None

    async def _split(
        self, response: httpx.Response, max_bytes: int, ends_at: float
    ) -> AsyncGenerator[bytes, None]:
        left = b""
        chunks = response.aiter_bytes()
        while True:
            try:
                async with asyncio.timeout_at(ends_at):
                    chunk = await anext(chunks)
            except (StopAsyncIteration, TimeoutError, httpx.ReadTimeout):
                return
            *whole, left = (left + chunk).split(b"\n")
            if max(map(len, (*whole, left))) > max_bytes:
                raise TooLarge(f"{self._name} sent a line of more than {max_bytes >> 20} MiB.")
            for line in whole:
                yield line

    def _build_next(self, request: httpx.Request, location: str) -> httpx.Request:
        allowed = {"https", urlsplit(self._url).scheme}
        try:
            url = urljoin(str(request.url), location)
            if urlsplit(url).scheme in allowed:
                return self._open().build_request("GET", url)
        except (ValueError, httpx.InvalidURL):
            pass  # said below
        raise SchedulerError(f"{self._name} redirects a download to no URL that may be followed.")

    async def _send(self, request: httpx.Request, max_bytes: int, limit_s: float) -> HttpAnswer:
        try:
            async with asyncio.timeout(limit_s):
                response = await self._open().send(request, stream=True)
                try:
                    content = await self._read(response, max_bytes)
                finally:
                    await response.aclose()
        except (TimeoutError, httpx.TimeoutException):
            raise SchedulerError(self._too_late(limit_s)) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SchedulerError(self._unreachable(error)) from None
        return HttpAnswer(response.status_code, response.headers, content)

    async def _read(self, response: httpx.Response, max_bytes: int) -> bytes:
        chunks, size = [], 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > max_bytes:
                raise TooLarge(f"{self._name} answered more than {max_bytes >> 20} MiB.")
            chunks.append(chunk)
        return b"".join(chunks)

    def _too_late(self, limit_s: float) -> str:
        return f"{self._name} didn't answer within {limit_s:.0f} s."

    def _unreachable(self, error: Exception) -> str:
        return f"{self._name} can't be reached ({type(error).__name__})."

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = httpx.AsyncClient(timeout=self._timeout_s, verify=self._verify)
        return self._client


def read(kind: type[T], answer: HttpAnswer, who: str, what: str) -> T:
    """The answer as what it should be. Raises `SchedulerError` if it isn't."""
    try:
        return TypeAdapter(kind).validate_json(answer.content)
    except ValidationError:
        raise SchedulerError(f"{who} answered {answer.excerpt} instead of {what}.") from None


class Etags:
    """What was read of answers that have an ETag, the last few: the same needn't be sent again."""

    def __init__(self, most: int = 32) -> None:
        self._kept = LRUCache[str, tuple[str, object]](most)

    def headers(self, key: str) -> dict[str, str]:
        """To be asked with."""
        return {"If-None-Match": self._kept[key][0]} if key in self._kept else {}

    def __contains__(self, key: str) -> bool:
        return key in self._kept

    def value(self, key: str) -> object:
        return self._kept[key][1]

    def keep(self, key: str, answer: HttpAnswer, value: object) -> None:
        """Remember what was read of an answer."""
        if etag := answer.headers.get("etag"):
            self._kept[key] = (etag, value)
