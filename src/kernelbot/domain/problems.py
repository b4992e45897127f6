"""Problems as their authors write them."""

from dataclasses import dataclass

from kernelbot.protocol import ProblemSpec, SourceFile


@dataclass(frozen=True)
class ProblemDefinition:
    """A problem as its author wrote it: what the harness needs, and what people read."""

    spec: ProblemSpec
    description: str
    devices: tuple[str, ...]
    """Names under `gpus` in task.yml."""
    templates: dict[str, str]
    """The starter files' texts by language (`Python`, `CUDA`, ...)."""
    solutions: tuple[SourceFile, ...] = ()
    """Those of `solutions/correct`. Only the platform judges them; nobody reads them here."""
