"""The honest files: each one's header, and the job by which it is judged."""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from kernelbot.catalog.problem import load_problem
from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Mode,
    ProblemSpec,
    SamplingRules,
    SourceFile,
    Vendor,
)
from kernelbot.submissions.source import source_text

HERE = Path(__file__).parent
SECRET_SEED = 271828182
SAMPLING = SamplingRules(min_samples=20, max_samples=20, min_total_s=0.0, wall_cap_s=1.0)
"""Few samples: enough for every accusation, which rests on medians of five calls and more."""
_LINE = re.compile(r"(?:#|//) (style|problem|needs): (.+)")


@dataclass(frozen=True)
class Style:
    """A file as an author wrote it. `needs`: a package without which it can't be judged."""

    path: Path
    style: str
    problem: str
    needs: str | None


def read_style(path: Path) -> Style:
    """Parse a header, of the text as the platform reads it. Raises KeyError if it is incomplete."""
    header: dict[str, str] = {}
    for line in source_text(path.read_bytes()).splitlines():
        if (match := _LINE.fullmatch(line)) is None:
            break
        header[match[1]] = match[2]
    return Style(path, header["style"], header["problem"], header.get("needs"))


def read_styles() -> tuple[Style, ...]:
    """All of them, by name."""
    found = (path for path in (HERE / "corpus").iterdir() if path.suffix in (".py", ".cpp"))
    return tuple(map(read_style, sorted(found)))


@functools.cache
def problem(name: str) -> ProblemSpec:
    """A problem that the files solve, as the catalog reads it."""
    return load_problem(HERE / "problems" / name, root=HERE).definition.spec


def ranked_job(style: Style) -> JobSpec:
    """The run that counts of a ranked submission: tests and times, on secret data."""
    spec = problem(style.problem)
    return JobSpec(
        job_id="",
        problem=spec,
        submission=SourceFile(spec.submission_name, source_text(style.path.read_bytes())),
        mode=Mode.LEADERBOARD,
        device=DeviceSpec(name="CPU", vendor=Vendor.CPU),
        secret=True,
        seed=SECRET_SEED,
        sampling=SAMPLING,
    )
