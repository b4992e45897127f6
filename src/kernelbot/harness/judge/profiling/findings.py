"""A profiler's findings about one workload, and what all profilers have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kernelbot.harness.judge.artifacts import ArtifactCollection
from kernelbot.harness.words.sandbox import CommandResult
from kernelbot.protocol import Verdict
from kernelbot.protocol.result_size import REPORT

_TOO_MUCH = {
    Verdict.TIME_LIMIT: "took too long",
    Verdict.MEMORY_LIMIT: "needed too much memory",
    Verdict.OUTPUT_LIMIT: "printed too much",
}


@dataclass(frozen=True)
class File:
    """A file to download. `suffix` distinguishes it from the workload's other files."""

    suffix: str
    media_type: str
    content: bytes


@dataclass(frozen=True)
class ProfilerFindings:
    """A section of the workload's report, and files. If nothing was found, the text says why. The
    only section of a report needs no title."""

    title: str
    text: str
    files: tuple[File, ...] = ()


class Profiler(Protocol):
    """One way to profile a kernel."""

    def profile(self, data: Any) -> ProfilerFindings:
        """Profile calls on `data`, which is what a `Question` of the session's kind gives.

        Raises `AuthorFailure` if the kernel fails in the runner.
        """


def keep(artifacts: ArtifactCollection, index: int, found: Sequence[ProfilerFindings]) -> None:
    """Store one text of all sections of a workload, and its files as `profile.INDEX.SUFFIX`."""
    sections = [
        f"== {section.title} ==\n{section.text.rstrip()}" if section.title else section.text
        for section in found
    ]
    artifacts.add(f"profile.{index}.txt", REPORT, "\n\n".join(sections).encode())
    for section in found:
        for file in section.files:
            artifacts.add(f"profile.{index}.{file.suffix}", file.media_type, file.content)


def columns(rows: Sequence[tuple[str, ...]], *, right: int = 1) -> str:
    """Rows as aligned text: the first column to the left, the `right` next ones to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            f"{cell:>{width}}" if 0 < at <= right else f"{cell:<{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def last_words(result: CommandResult) -> str:
    """Why a command left nothing, if known: how it was stopped, or its last line."""
    if result.limit is not None:
        return f"it was stopped, because it {_TOO_MUCH[result.limit]}."
    lines = [line.strip() for line in result.stderr.splitlines() if line.strip()]
    if lines:
        return lines[-1][:500]
    how = "at once" if result.exit_code is None else f"with exit code {result.exit_code}"
    return f"it ended {how} and printed nothing."
