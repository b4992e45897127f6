"""Modal's package, put to what the launcher asks. Nothing else here imports it.

Modal has its own threads and connection; what its package raises becomes ours. What a function
returns is CBOR, but entries of a Dict and exceptions are pickles: whoever has taken a container
over can have this process run code. See docs/how-to/modal.md.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import modal
from aiohttp import ClientError
from grpclib.exceptions import GRPCError, StreamTerminatedError
from modal import exception

from kernelbot.domain.errors import DeviceRefused, RateLimited, SchedulerError
from kernelbot.launchers.modal.calls import Arguments, CallEntry, CallStage, Over
from kernelbot.protocol import Fault

_ENTRY = re.compile(r"(fc-[A-Za-z0-9]{1,80}) ([a-z_]{1,40})")
_MAX_WORDS = 300
_SPAWN_FACTOR = 6.0
_LIMITED_FOR_S = 10.0
"""Modal doesn't say for how long."""
_GONE = (exception.NotFoundError, exception.OutputExpiredError, exception.InvalidError)
"""But for `ConflictError`, which is an `InvalidError`: it may go well the next time."""
_ENDED = (
    exception.InternalFailure,
    exception.RemoteError,
    exception.ExecutionError,
    exception.DeserializationError,
)
_BROKEN_OFF = (StreamTerminatedError, GRPCError, ClientError)
"""What the package lets through of those below it, once it has tried again several times: the
connection to Modal, or the one for a large answer, breaks off."""


class PackageCalls:
    """Implements `Calls`. `timeout_s`: for each request, since the package itself goes on trying;
    spawning a call has longer, as it takes the job along. `functions`, `calls` and `dicts` are the
    package's own, or a test's."""

    def __init__(
        self,
        app: str,
        environment: str | None = None,
        *,
        timeout_s: float = 20.0,
        functions: type[modal.Function[Any, Any, Any]] = modal.Function,
        calls: type[modal.FunctionCall[Any]] = modal.FunctionCall,
        dicts: type[modal.Dict] = modal.Dict,
    ) -> None:
        self._app = app
        self._environment = environment
        self._timeout_s = timeout_s
        self._functions = functions
        self._calls = calls
        self._dicts = dicts
        self._dict = self._named_dict()

    async def prepare(self) -> None:
        async with self._asked_dict("find its Dict") as entries:
            await entries.hydrate.aio()

    async def spawn(self, function: str, arguments: Arguments) -> str:
        try:
            async with self._asked(f"call {function}", _SPAWN_FACTOR):
                call = await self._function(function).spawn.aio(*arguments)
                return str(call.object_id)
        except _NoSuchThing as error:
            raise DeviceRefused(self._not_deployed(function)) from error

    async def outcome(self, call_id: str) -> Over | None:
        async with self._asked("say what became of a call"):
            try:
                return Over(await self._calls.from_id(call_id).get.aio(timeout=0))
            except TimeoutError:
                return None
            except exception.FunctionTimeoutError:
                words = "Modal ended it: it took longer than its function may"
                return Over(reason=words, fault=Fault.PLATFORM)
            except exception.ConflictError:
                raise
            except _GONE:
                return Over(reason="Modal doesn't know its call any more")
            except _ENDED as error:
                return Over(reason=f"Modal ended it: {_words(error)}")
            except (exception.Error, OSError, *_BROKEN_OFF):
                raise
            except Exception as error:  # noqa: BLE001 (what a container raised arrives as itself)
                words = f"its function failed: {_words(error)}"
                return Over(reason=words, fault=Fault.PLATFORM)

    async def cancel(self, call_id: str, *, with_container: bool) -> None:
        try:
            async with self._asked("cancel a call"):
                call = self._calls.from_id(call_id)
                await call.cancel.aio(terminate_containers=with_container)
        except _NoSuchThing:
            return

    async def stats(self, function: str) -> str | None:
        try:
            async with self._asked("say how its function is"):
                await self._function(function).get_current_stats.aio()
        except _NoSuchThing:
            return self._not_deployed(function)
        return None

    async def keep(self, attempt: str, call_id: str) -> bool:
        async with self._asked_dict("write into its Dict") as entries:
            value = f"{call_id} {CallStage.SPAWNED}"
            return bool(await entries.put.aio(attempt, value, skip_if_exists=True))

    async def entry(self, attempt: str) -> CallEntry | None:
        async with self._asked_dict("read its Dict") as entries:
            found = await entries.get.aio(attempt)
        if found is not None and _entry(found) is None:
            raise SchedulerError(f"Modal's Dict has {str(found)[:80]!r} instead of a call.")
        return _entry(found)

    async def entries(self) -> Mapping[str, CallEntry]:
        async with self._asked_dict("read its Dict") as entries:
            found = [pair async for pair in entries.items.aio()]
        read = ((str(attempt), _entry(value)) for attempt, value in found)
        return {attempt: entry for attempt, entry in read if entry is not None}

    async def remove(self, attempt: str) -> None:
        async with self._asked_dict("write into its Dict") as entries:
            await entries.pop.aio(attempt, None)

    @asynccontextmanager
    async def _asked(self, what: str, factor: float = 1.0) -> AsyncIterator[None]:
        """What the package raises, as ours."""
        try:
            async with asyncio.timeout(factor * self._timeout_s):
                yield
        except TimeoutError:
            raise SchedulerError(
                f"Modal didn't {what} within {factor * self._timeout_s:g} s."
            ) from None
        except exception.ResourceExhaustedError as error:
            said = f"Modal takes no more of our requests just now: {_words(error)}"
            raise RateLimited(said, for_s=_LIMITED_FOR_S) from error
        except (exception.Error, OSError, *_BROKEN_OFF) as error:
            gone = isinstance(error, _GONE) and not isinstance(error, exception.ConflictError)
            kind = _NoSuchThing if gone else SchedulerError
            raise kind(f"Modal couldn't {what}: {_words(error)}") from error

    @asynccontextmanager
    async def _asked_dict(self, what: str) -> AsyncIterator[modal.Dict]:
        """The Dict, which the next request makes if it is gone: the package keeps its id, not its
        name."""
        try:
            async with self._asked(what):
                yield self._dict
        except _NoSuchThing:
            self._dict = self._named_dict()
            raise

    def _named_dict(self) -> modal.Dict:
        return self._dicts.from_name(
            f"{self._app}-attempts", environment_name=self._environment, create_if_missing=True
        )

    def _function(self, name: str) -> modal.Function[Any, Any, Any]:
        return self._functions.from_name(self._app, name, environment_name=self._environment)

    def _not_deployed(self, function: str) -> str:
        return f"Modal has no function {function!r} in the app {self._app!r}; is it deployed?"


class _NoSuchThing(SchedulerError):
    """Modal doesn't know what it was asked about."""


def _entry(value: object) -> CallEntry | None:
    """None: it is none of ours."""
    found = _ENTRY.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    # A newer app may tell of further stages: none of them is an end.
    return CallEntry(
        found[1], CallStage(found[2]) if found[2] in set(CallStage) else CallStage.BEGUN
    )


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_MAX_WORDS]
