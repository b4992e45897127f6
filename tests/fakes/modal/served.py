"""The service over HTTP, and the package's objects as another process has them.

What travels are pickles, as with Modal itself: both ends are this test's.
"""

import asyncio
import pickle
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from kernelbot.launchers.modal.package import PackageCalls
from tests.fakes.modal.service import APP, Aio, FakeCalls, FakeFunctions, FakeModal
from tests.fakes.serving import Request, Response, serving


@contextmanager
def served_modal(service: FakeModal) -> Iterator[str]:
    """The URL of the service, until the end of the block."""
    with serving(partial(_answer, service), "fake modal") as url:
        yield url


def _answer(service: FakeModal, request: Request) -> Response:
    try:
        answer = asyncio.run(_called(service, *pickle.loads(request.body)))
    except Exception as error:  # noqa: BLE001 (as the package passes it on)
        answer = error
    return Response(200, pickle.dumps(answer))


async def _called(
    service: FakeModal,
    what: str,
    names: tuple[str, ...],
    method: str,
    given: tuple[Any, ...],
    named: dict[str, Any],
) -> Any:
    things: dict[str, Callable[[], Any]] = {
        "function": lambda: FakeFunctions(service).from_name(*names),
        "call": lambda: FakeCalls(service).from_id(*names),
        "dict": lambda: service.dict,
    }
    asked = getattr(things[what](), method).aio(*given, **named)
    if method == "items":
        return [pair async for pair in asked]
    answer = await asked
    return answer.object_id if method == "spawn" else answer


def _post(url: str, body: bytes) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(url, body), timeout=60) as response:
        return bytes(response.read())


@dataclass(frozen=True)
class RemoteModal:
    """The account of `served_modal`; can be pickled itself."""

    url: str

    def calls(self, timeout_s: float = 60.0) -> PackageCalls:
        """The launcher's own adapter over it."""
        return PackageCalls(
            APP,
            timeout_s=timeout_s,
            functions=cast(Any, _Functions(self.url)),
            calls=cast(Any, _Calls(self.url)),
            dicts=cast(Any, _Dicts(self.url)),
        )


class _Thing:
    """A function, a call or a Dict, by its names."""

    def __init__(self, url: str, what: str, *names: str) -> None:
        self._url = url
        self._what = what
        self._names = names

    def _method(self, name: str) -> Aio:
        return Aio(partial(self._ask, name))

    async def _ask(self, method: str, *given: Any, **named: Any) -> Any:
        body = pickle.dumps((self._what, self._names, method, given, named))
        answer = pickle.loads(await asyncio.to_thread(_post, self._url, body))
        if isinstance(answer, BaseException):
            raise answer
        return answer


class _Function(_Thing):
    def __init__(self, url: str, app: str, name: str) -> None:
        super().__init__(url, "function", app, name)
        self.spawn = Aio(self._spawn)
        self.get_current_stats = self._method("get_current_stats")

    async def _spawn(self, *arguments: Any) -> "_Call":
        return _Call(self._url, await self._ask("spawn", *arguments))


class _Call(_Thing):
    def __init__(self, url: str, call_id: str) -> None:
        super().__init__(url, "call", call_id)
        self.object_id = call_id
        self.get = self._method("get")
        self.cancel = self._method("cancel")


class _Dict(_Thing):
    def __init__(self, url: str) -> None:
        super().__init__(url, "dict")
        self.hydrate, self.get, self.put, self.pop = map(
            self._method, ("hydrate", "get", "put", "pop")
        )
        self.items = Aio(self._items)

    async def _items(self) -> AsyncIterator[tuple[str, Any]]:
        for pair in await self._ask("items"):
            yield pair


@dataclass(frozen=True)
class _Functions:
    url: str

    def from_name(self, app: str, name: str, *, environment_name: str | None = None) -> _Function:
        del environment_name
        return _Function(self.url, app, name)


@dataclass(frozen=True)
class _Calls:
    url: str

    def from_id(self, call_id: str) -> _Call:
        return _Call(self.url, call_id)


@dataclass(frozen=True)
class _Dicts:
    url: str

    def from_name(
        self, name: str, *, environment_name: str | None = None, create_if_missing: bool = False
    ) -> _Dict:
        del environment_name
        assert (name, create_if_missing) == (f"{APP}-attempts", True)
        return _Dict(self.url)
