"""The requests of the clients, described once: what is sent, and how the answer is read.

A method of a client is a function that returns a `Request`, decorated by `described`, or one that
yields several, decorated by `in_steps`. The client that it is called of sends it: `KernelbotClient`
gives the answer, and `AsyncKernelbotClient` an awaitable of it.
"""

import functools
from collections.abc import Callable, Coroutine, Generator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload
from urllib.parse import quote

from kernelbot.client.answers import (
    Received,
    answer,
    expect_success,
    read_ready,
    size_of,
    unsendable,
)
from kernelbot.client.bodies import document_of
from kernelbot.domain.errors import UserError
from kernelbot.protocol.late import dataclass

if TYPE_CHECKING:
    from kernelbot.platform.health.schemas import ReadyView
    from kernelbot.schemas.common import RequestBody

API = "/api/v1"
P = ParamSpec("P")
T = TypeVar("T")
Model = TypeVar("Model")
Query = Mapping[str, str | int | bool | None]


@dataclass(frozen=True)
class Request(Generic[T]):
    """One request. `content` is what httpx takes beside method and path, and `direct`."""

    method: str
    path: str
    read: Callable[[Received], T] = field(repr=False)
    """Makes what the caller gets of the answer, or raises `Refused` or `BadAnswer`."""
    content: Mapping[str, Any] = field(default_factory=dict, repr=False)
    file: Path | None = None
    """Where the answer is written; None: it is read into memory."""


Steps = Generator[Request[Any], Any, T]
"""Requests one after another: each `yield` gives the answer. What it returns is what the caller
gets."""


class Synchronous:
    """A client that waits for answers."""

    def perform(self, asked: "Request[T] | Steps[T]") -> T:
        """Send, and wait. Raises `Refused`, `Unreachable` or `BadAnswer`."""
        raise NotImplementedError


class Asynchronous:
    """A client whose answers are awaited."""

    async def perform(self, asked: "Request[T] | Steps[T]") -> T:
        """The same, awaited."""
        raise NotImplementedError


class DescribedCall(Generic[P, T]):
    """A method of both clients."""

    def __init__(self, describe: Callable[Concatenate[Any, P], "Request[T] | Steps[T]"]) -> None:
        self._describe = describe
        self.__doc__ = describe.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...

    @overload
    def __get__(self, client: Synchronous, owner: type) -> Callable[P, T]: ...

    @overload
    def __get__(self, client: Asynchronous, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...

    def __get__(self, client: Synchronous | Asynchronous | None, owner: type) -> object:
        """Bound to a client; unbound, itself."""
        if client is None:
            return self
        bound = self._awaited(client) if isinstance(client, Asynchronous) else self._sent(client)
        return functools.update_wrapper(bound, self._describe)

    def _sent(self, client: Synchronous) -> Callable[P, T]:
        def send(*args: P.args, **kwargs: P.kwargs) -> T:
            return client.perform(self._describe(client, *args, **kwargs))

        return send

    def _awaited(self, client: Asynchronous) -> Callable[P, Coroutine[Any, Any, T]]:
        async def send(*args: P.args, **kwargs: P.kwargs) -> T:
            return await client.perform(self._describe(client, *args, **kwargs))

        return send


def described(describe: Callable[Concatenate[Any, P], Request[T]]) -> DescribedCall[P, T]:
    """A method that sends one request."""
    return DescribedCall(describe)


def in_steps(describe: Callable[Concatenate[Any, P], Steps[T]]) -> DescribedCall[P, T]:
    """A method that sends several."""
    return DescribedCall(describe)


def ask(
    model: type[Model],
    method: str,
    path: str,
    *,
    query: Query | None = None,
    body: "RequestBody | None" = None,
) -> Request[Model]:
    """A request below `/api/v1` whose answer is read as `model`. Keys with None in `query` are left
    out."""
    json = None if body is None else document_of(body)
    return call(model, method, path, params=_given(query), json=json)


def call(model: type[Model], method: str, path: str, **content: Any) -> Request[Model]:
    """Any request below `/api/v1` whose answer is read as `model`."""
    return Request(method, API + path, functools.partial(answer, model), content)


def text(path: str, query: Query) -> Request[str]:
    """A request whose answer is no document. Keys with None are left out."""
    return Request("GET", API + path, _text_of, {"params": _given(query)})


def send(method: str, path: str, **content: Any) -> Request[None]:
    """A request whose answer has no body."""
    return Request(method, API + path, expect_success, content)


def download(path: str, params: Mapping[str, list[str]], file: Path) -> Request[int]:
    """A request whose answer is written to a file, which appears only once it is complete; its size
    in bytes. Also raises `UserError` if it can't be written."""
    return Request("GET", API + path, functools.partial(size_of, file), {"params": params}, file)


def asked_whether_ready() -> "Request[ReadyView]":
    """The request for `/ready`, of which a refusal is an answer as well."""
    return Request("GET", "/ready", read_ready)


def _given(query: Query | None) -> dict[str, str | int | bool]:
    return {key: value for key, value in (query or {}).items() if value is not None}


def _text_of(response: Received) -> str:
    expect_success(response)
    return response.text


def part(name: str) -> str:
    """A name as one part of a path. Raises `UserError` for what can't be one."""
    if name in ("", ".", ".."):
        raise UserError(f"{name!r} can't be a name.")
    try:
        return quote(name, safe="")
    except UnicodeEncodeError as error:
        raise unsendable(error) from None
