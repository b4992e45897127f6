"""Answers that are kept for as long as what they were made of hasn't changed."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")


class VersionedCache(Generic[Key, Kept]):
    """Keeps the most recently used values, each with the version it was made from: a number, or all
    the data it was made from. For one event loop."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[Key, tuple[object, Kept]] = OrderedDict()

    def get(self, key: Key, version: object) -> Kept | None:
        """The value of the key, if it was made from this version."""
        found = self._kept.get(key)
        if found is None or found[0] != version:
            return None
        self._kept.move_to_end(key)
        return found[1]

    def keep(self, key: Key, version: object, value: Kept) -> None:
        """Keep a value; if there is no room, the least recently used one is dropped."""
        self._kept[key] = (version, value)
        self._kept.move_to_end(key)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)
