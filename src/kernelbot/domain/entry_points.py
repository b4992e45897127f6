"""What installed packages bring, ours and others': classes that are found by entry points."""

import sys
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Generic, TypeVar

from kernelbot.domain.errors import UserError
from kernelbot.protocol.late import dataclass

Base = TypeVar("Base")


@dataclass(frozen=True)
class Group(Generic[Base]):
    """The entry points of one group, each of which leads to a subclass of `base`."""

    name: str
    """What packages call it in `[project.entry-points."NAME"]`."""
    base: type[Base]
    noun: str
    """What people call one of them, as in "the launcher kind 'x' can't be loaded"."""

    def names(self) -> list[str]:
        """The names of the installed entry points, in order."""
        return sorted(self._found())

    def load(self, name: str) -> type[Base]:
        """The class of a name. Raises `KeyError` if no package has it, `UserError` if the package
        that has it can't be loaded."""
        entry = self._found()[name]
        try:
            loaded = entry.load()
        except (ImportError, AttributeError) as error:
            raise self._broken(entry, f"{type(error).__name__}: {error}") from error
        if not (isinstance(loaded, type) and issubclass(loaded, self.base)):
            raise self._broken(entry, f"it is no {self.base.__name__}")
        return loaded

    def _found(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in installed_entry_points(self.name)}

    def _broken(self, entry: EntryPoint, why: str) -> UserError:
        return UserError(
            f"The {self.noun} {entry.name!r} can't be loaded from {entry.value}: {why}.",
            hint="Install the package that has it again, or remove it.",
        )


def installed_entry_points(group: str) -> EntryPoints:
    """The installed entry points of a group. What is installed while this process runs is found by
    the next."""
    return _found_once(group, tuple(sys.path))


@cache
def _found_once(group: str, _search_path: tuple[str, ...]) -> EntryPoints:
    """A file of every installed package is read for this, which takes 10 ms."""
    return entry_points(group=group)
