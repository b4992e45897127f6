"""A problem's name from where it lies in its suite."""

from pathlib import Path

from kernelbot.catalog.fields import DefinitionFindings
from kernelbot.catalog.skeleton import MAX_NAME, NAME, NAME_RULE


def problem_name(where: Path, findings: DefinitionFindings) -> str | None:
    """The parts of a relative path, joined by `_` and cut; None after a finding if that can't be a
    name."""
    name = "_".join(where.parts)[:MAX_NAME]
    if NAME.fullmatch(name):
        return name
    findings.error("", None, f"{name!r} can't be a problem's name: {NAME_RULE}")
    return None
