"""An event loop whose clock jumps to whatever is waited for next: minutes pass in milliseconds."""

import asyncio
import concurrent.futures
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
_STEP_S = 1e-6
"""What the least takes: a loop that waits for less and less has to come to an end."""


class _Inline(concurrent.futures.ThreadPoolExecutor):
    """Does at once what is given to a thread, so that no time passes meanwhile."""

    def submit(
        self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> concurrent.futures.Future[Any]:
        done: concurrent.futures.Future[Any] = concurrent.futures.Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (whoever waits for it gets it)
            done.set_exception(error)
        return done


class _Selector(selectors.DefaultSelector):
    """Never waits: it moves the clock."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "everybody waits for something that can't come"
            self.now += max(timeout, _STEP_S)
        return ready


def run_virtually(monkeypatch: pytest.MonkeyPatch, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What `main` returns. It may wait for clocks, and not for sockets or other processes."""
    selector = _Selector()
    loop = asyncio.SelectorEventLoop(selector)
    monkeypatch.setattr(loop, "time", lambda: selector.now)
    monkeypatch.setattr(time, "monotonic", lambda: selector.now)
    loop.set_default_executor(_Inline())
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(main())
