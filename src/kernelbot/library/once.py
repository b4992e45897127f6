"""Work that several wait for, done once."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass
class _Shared(Generic[T]):
    task: "asyncio.Task[T]"
    waiting: int = 0


class Once(Generic[T]):
    """Results by key, of which each is made once and kept. Work that nobody waits for any more is
    cancelled."""

    def __init__(self, is_lasting: Callable[[T], bool]) -> None:
        """`is_lasting`: whether a result is kept for those who come later."""
        self._is_lasting = is_lasting
        self._shared: dict[Hashable, _Shared[T]] = {}

    async def get(self, key: Hashable, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result for `key`. Raises what `make` raises. Cancelled, it returns once the work has
        ended, unless others wait for it."""
        shared = self._shared.get(key)
        if shared is None:
            shared = self._shared[key] = _Shared(asyncio.create_task(make()))
        shared.waiting += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.waiting -= 1
            if not shared.task.done() and not shared.waiting:
                self._forget(key, shared)
                shared.task.cancel()
                await asyncio.wait([shared.task])
            elif shared.task.done() and not self._is_cached(shared.task):
                self._forget(key, shared)

    def _is_cached(self, task: "asyncio.Task[T]") -> bool:
        if task.cancelled() or task.exception() is not None:
            return False
        return self._is_lasting(task.result())

    def _forget(self, key: Hashable, shared: _Shared[T]) -> None:
        if self._shared.get(key) is shared:
            del self._shared[key]
