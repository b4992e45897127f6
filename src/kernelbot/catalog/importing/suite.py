"""The suites whose problems can be imported."""

from enum import StrEnum


class Suite(StrEnum):
    """A suite, by the name that commands use."""

    KERNELBENCH = "kernelbench"
    FLASHINFER_BENCH = "flashinfer-bench"
    TENSARA = "tensara"
