"""The kinds of launchers that are installed, ours and others': entry points of one group.

A package that has a scheduler of its own declares
`[project.entry-points."kernelbot.launchers"]`, with the kind's name and its `LauncherTable`.
"""

from importlib.metadata import EntryPoint, entry_points

from kernelbot.domain.errors import UserError
from kernelbot.launchers.table import LauncherTable

GROUP = "kernelbot.launchers"


def kinds() -> list[str]:
    """The names, in order. `local` is none: it always exists, and there is one of it."""
    return sorted(_found())


def table_of(kind: str) -> type[LauncherTable]:
    """The class of a kind's tables. Raises `KeyError` if there is no such kind, `UserError` if the
    package that has it can't be loaded."""
    entry = _found()[kind]
    try:
        table = entry.load()
    except (ImportError, AttributeError) as error:
        raise _broken(entry, f"{type(error).__name__}: {error}") from error
    if not (isinstance(table, type) and issubclass(table, LauncherTable)):
        raise _broken(entry, "it is no LauncherTable")
    return table


def _found() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _broken(entry: EntryPoint, why: str) -> UserError:
    return UserError(
        f"The launcher kind {entry.name!r} can't be loaded from {entry.value}: {why}.",
        hint="Install the package that has it again, or remove it.",
    )
