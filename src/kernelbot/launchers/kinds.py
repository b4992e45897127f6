"""The kinds of launchers that are installed. `local` is none: it always exists, and there is one of
it."""

from kernelbot.domain.entry_points import Group
from kernelbot.launchers.table import LauncherTable

KINDS = Group(
    "kernelbot.launchers",
    LauncherTable,  # type: ignore[type-abstract]  # it is compared with, never called
    "launcher kind",
)
