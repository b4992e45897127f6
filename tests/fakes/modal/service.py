"""The service: calls of functions in containers, and Dicts. Of Modal's package it offers what the
launcher and the app use, with the same names and exceptions."""

import asyncio
import contextlib
import functools
import importlib.util
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from modal import exception

from kernelbot.launchers.modal.package import PackageCalls
from tests.support.homes import processes_of_home

APP = "kernelbot"
APP_FILE = Path(__file__).parents[3] / "deploy" / "modal" / "app.py"


@functools.cache
def load_app() -> ModuleType:
    """The file that is deployed, as it is."""
    spec = importlib.util.spec_from_file_location("kernelbot_modal_app", APP_FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


class Aio:
    """A method of the package's, awaited as `.aio`. If it has a `blocking` form, that is called."""

    def __init__(self, aio: Callable[..., Any], blocking: Callable[..., Any] | None = None) -> None:
        self.aio = aio
        self._blocking = blocking

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        assert self._blocking is not None, "it would block the event loop"
        return self._blocking(*arguments, **named)


@dataclass
class FakeCall:
    """A call, as the service knows it."""

    id: str
    function: str
    arguments: tuple[Any, ...]
    done: threading.Event = field(default_factory=threading.Event)
    answer: Any = None
    error: BaseException | None = None
    container: "FakeContainer | None" = None
    """Where it runs, or has run."""
    process: subprocess.Popen[bytes] | None = None
    """What its function has started."""
    cancelled: bool = False


@dataclass
class FakeContainer:
    """Runs one call at a time, of one function. All its processes have `folder` as their home, and
    it is the only folder in which they work."""

    function: str
    folder: Path
    call: FakeCall | None = None

    def end(self) -> None:
        """Kill all that runs in it."""
        while living := processes_of_home(self.folder):
            for pid in living:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)


class FakeDict:
    """A Dict: what the app calls blocks, and what the launcher awaits doesn't."""

    def __init__(self, service: "FakeModal") -> None:
        self._service = service
        self.content: dict[str, Any] = {}
        self.deleted = False
        self._lock = threading.Lock()
        self.hydrate = Aio(self._hydrate)
        self.items = Aio(self._items)
        self.pop = Aio(self._pop)
        self.get = self._both("get", self._get)
        self.put = self._both("put", self._put)

    def _both(self, name: str, blocking: Callable[..., Any]) -> Aio:
        async def aio(*arguments: Any, **named: Any) -> Any:
            await self._service.answer(name)
            return blocking(*arguments, **named)

        return Aio(aio, blocking)

    def _find(self) -> None:
        """What has looked it up knows its id, and finds no other of its name."""
        if self.deleted:
            raise exception.NotFoundError("No Dict with ID di-1")

    def _get(self, key: str, default: Any = None) -> Any:
        self._find()
        return self.content.get(key, default)

    def _put(self, key: str, value: Any, *, skip_if_exists: bool = False) -> bool:
        self._find()
        with self._lock:
            if skip_if_exists and key in self.content:
                return False
            self.content[key] = value
            return True

    async def _hydrate(self) -> None:
        await self._service.answer("hydrate")

    async def _items(self) -> AsyncIterator[tuple[str, Any]]:
        await self._service.answer("items")
        self._find()
        for pair in list(self.content.items()):
            yield pair

    async def _pop(self, key: str, default: Any = None) -> Any:
        await self._service.answer("pop")
        self._find()
        return self.content.pop(key, default)


class FakeModal:
    """One account with one deployed app. `folder`: where its containers work; `harness`: the file
    in their image."""

    def __init__(self, folder: Path, harness: Path) -> None:
        self.folder = folder
        self.harness = harness
        self.app = load_app()
        self.known: dict[str, FakeCall] = {}
        self.dict = FakeDict(self)
        self.requests: list[str] = []
        """What was asked, by the name of the method."""
        self.down: BaseException | None = None
        """What every request ends with; None: it works."""
        self.answers: dict[str, Any] = {}
        """By attempt what the function returns instead of judging; an exception is raised."""
        self.hangs = False
        """No request is answered."""
        self.held = False
        """Containers aren't started."""
        self.containers: list[FakeContainer] = []
        """That run, in the order in which they were started."""
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._threads: list[threading.Thread] = []

    def calls(self, timeout_s: float = 60.0) -> PackageCalls:
        """The launcher's own adapter over this service."""
        return PackageCalls(
            APP,
            timeout_s=timeout_s,
            functions=cast(Any, FakeFunctions(self)),
            calls=cast(Any, FakeCalls(self)),
            dicts=cast(Any, _Dicts(self)),
        )

    async def answer(self, what: str) -> None:
        """Fail as it was told to."""
        self.requests.append(what)
        await asyncio.sleep(3600 if self.hangs else 0)
        if self.down is not None:
            raise self.down

    def delete_dict(self) -> None:
        """Whoever looks its name up from now on is given a new one."""
        self.dict.deleted = True
        self.dict = FakeDict(self)

    def start(self, function: str, arguments: tuple[Any, ...]) -> FakeCall:
        """A new call, begun at once unless containers are held."""
        call = FakeCall(f"fc-01FAKE{next(self._numbers)}", function, arguments)
        self.known[call.id] = call
        if not self.held:
            self.begin(call)
        return call

    def begin(self, call: FakeCall) -> None:
        """Its container starts."""
        thread = threading.Thread(target=self._run, args=(call,), name=call.id)
        self._threads.append(thread)
        thread.start()

    def begin_all(self) -> None:
        """The containers of all that wait."""
        self.held = False
        for call in list(self.known.values()):
            if not call.cancelled and not call.done.is_set():
                self.begin(call)

    def cancel(self, call: FakeCall, *, with_container: bool = True) -> None:
        """Interrupt its function, or end the container that runs it."""
        with self._lock:
            if call.done.is_set():
                return
            call.cancelled = True
            call.error = exception.RemoteError("the call was cancelled")
            call.done.set()
            if call.process is not None:  # as `subprocess.run` does when it is interrupted
                call.process.kill()
        if with_container and call.container is not None:
            self.end(call.container)

    def end(self, container: FakeContainer) -> None:
        """Modal takes it away, as it does with those that nobody has called for a while."""
        with self._lock:
            if container in self.containers:
                self.containers.remove(container)
        container.end()

    def close(self) -> None:
        """Nothing runs afterwards."""
        for call in self.known.values():
            self.cancel(call)
        for thread in self._threads:
            thread.join()
        for container in list(self.containers):
            self.end(container)

    def _run(self, call: FakeCall) -> None:
        attempt = call.arguments[0]
        call.container = self._container(call)
        try:
            answer = self.answers[attempt] if attempt in self.answers else self._judged(call)
        except (Exception, exception.InputCancellation) as error:  # noqa: BLE001 (as the service)
            answer = error
        with self._lock:
            call.container.call = None
            if call.cancelled:
                return
            call.error = answer if isinstance(answer, BaseException) else None
            call.answer = answer
            call.done.set()

    def _container(self, call: FakeCall) -> FakeContainer:
        """One that is idle, or a new one."""
        with self._lock:
            for found in self.containers:
                if found.call is None and found.function == call.function:
                    found.call = call
                    return found
            folder = self.folder / f"container{next(self._numbers)}"
            folder.mkdir(parents=True)
            made = FakeContainer(call.function, folder, call)
            self.containers.append(made)
            return made

    def _judged(self, call: FakeCall) -> Any:
        assert call.container is not None
        place = self.app.Place(
            self.dict,
            call.id,
            harness=str(self.harness),
            python=sys.executable,
            folder=call.container.folder,
            run=lambda *given: self._run_in(call, *given),
        )
        return self.app.judge(self.app.Job(*call.arguments), place)

    def _run_in(
        self, call: FakeCall, command: list[str], payload: bytes, environment: dict[str, str]
    ) -> tuple[int, bytes]:
        assert call.container is not None
        own = {
            "HOME": str(call.container.folder),
            "FAKE_JUDGED_LOG": str(self.folder / "judged.log"),
        }
        with self._lock:
            if call.cancelled:
                raise exception.InputCancellation
            call.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**environment, **own},
            )
        with call.process as process:
            said, _ = process.communicate(payload)
        if call.cancelled:
            raise exception.InputCancellation
        return process.returncode, said


class FakeFunctions:
    """In place of `modal.Function`."""

    def __init__(self, service: FakeModal) -> None:
        self._service = service

    def from_name(self, app: str, name: str, *, environment_name: str | None = None) -> "_Function":
        del environment_name
        return _Function(self._service, app, name)


class _Function:
    def __init__(self, service: FakeModal, app: str, name: str) -> None:
        self._service = service
        self._app = app
        self._name = name
        self.spawn = Aio(self._spawn)
        self.get_current_stats = Aio(self._stats)

    async def _found(self, what: str) -> None:
        """Looked up with the first request."""
        await self._service.answer(what)
        if not (self._name.startswith("judge_") and hasattr(self._service.app, self._name)):
            raise exception.NotFoundError(f"No function {self._name} in app {self._app}.")

    async def _spawn(self, *arguments: Any) -> "_Call":
        await self._found("spawn")
        return _Call(self._service, self._service.start(self._name, arguments).id)

    async def _stats(self) -> object:
        await self._found("get_current_stats")
        return {"backlog": 0, "num_total_runners": 0}


class FakeCalls:
    """In place of `modal.FunctionCall`."""

    def __init__(self, service: FakeModal) -> None:
        self._service = service

    def from_id(self, call_id: str) -> "_Call":
        return _Call(self._service, call_id)


class _Call:
    def __init__(self, service: FakeModal, call_id: str) -> None:
        self._service = service
        self.object_id = call_id
        self.get = Aio(self._get)
        self.cancel = Aio(self._cancel)

    async def _found(self, what: str) -> FakeCall:
        await self._service.answer(what)
        call = self._service.known.get(self.object_id)
        if call is None:
            raise exception.NotFoundError(f"No call {self.object_id}.")
        return call

    async def _get(self, timeout: float | None = None) -> Any:  # noqa: ASYNC109  # the package's
        assert timeout == 0, "the launcher never waits for one call"
        call = await self._found("get")
        if not call.done.is_set():
            raise TimeoutError
        if call.error is not None:
            raise call.error
        return call.answer

    async def _cancel(self, terminate_containers: bool = False) -> None:
        call = await self._found("cancel")
        await asyncio.to_thread(self._service.cancel, call, with_container=terminate_containers)


class _Dicts:
    def __init__(self, service: FakeModal) -> None:
        self._service = service

    def from_name(
        self, name: str, *, environment_name: str | None = None, create_if_missing: bool = False
    ) -> FakeDict:
        del environment_name
        assert (name, create_if_missing) == (f"{APP}-attempts", True)
        return self._service.dict
