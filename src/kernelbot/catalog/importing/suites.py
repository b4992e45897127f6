"""The suites whose problems can be imported: those that installed packages bring."""

from kernelbot.catalog.importing.imported import SuiteReader
from kernelbot.domain.entry_points import Group

SUITES = Group(
    "kernelbot.importers",
    SuiteReader,  # type: ignore[type-abstract]  # it is compared with, never called
    "suite",
)
