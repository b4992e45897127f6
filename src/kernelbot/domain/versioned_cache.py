"""Answers that are kept for as long as what they were made of hasn't changed."""

from collections.abc import Hashable
from typing import Generic, TypeVar

from cachetools import LRUCache

Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")


class VersionedCache(Generic[Key, Kept]):
    """Keeps the most recently used values, each with the version it was made from: a number, or all
    the data it was made from. For one event loop."""

    def __init__(self, size: int) -> None:
        self._kept = LRUCache[Key, tuple[object, Kept]](size)

    def get(self, key: Key, version: object) -> Kept | None:
        """The value of the key, if it was made from this version."""
        found = self._kept.get(key)
        return found[1] if found is not None and found[0] == version else None

    def version(self, key: Key) -> object:
        """The version that the key's value was made from; None: no value is kept."""
        found = self._kept.get(key)
        return None if found is None else found[0]

    def has(self, key: Key) -> bool:
        """Whether any value of the key is kept, of whatever version."""
        return key in self._kept

    def keep(self, key: Key, version: object, value: Kept) -> None:
        """Keep a value; if there is no room, the least recently used one is dropped."""
        self._kept[key] = (version, value)

    def renew(self, key: Key, version: object) -> None:
        """Let an equal version, which may know more, be that of the key's value."""
        found = self._kept.get(key)
        if found is not None and found[0] == version:
            self._kept[key] = (version, found[1])

    def drop(self, key: Key) -> None:
        """Keep nothing of the key."""
        self._kept.pop(key, None)
