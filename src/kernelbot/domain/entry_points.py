"""What installed packages bring, ours and others': classes that are found by entry points."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from kernelbot.domain.errors import UserError

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
        """Those that are installed, in order."""
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
        return {entry.name: entry for entry in entry_points(group=self.name)}

    def _broken(self, entry: EntryPoint, why: str) -> UserError:
        return UserError(
            f"The {self.noun} {entry.name!r} can't be loaded from {entry.value}: {why}.",
            hint="Install the package that has it again, or remove it.",
        )
