"""Which GPUs a public set's published files compile for, and what that takes.

    python -m benchmarks.preflight FOLDER

FOLDER: a checkout of the problem sets. Each file that mentions Triton, `load_inline` or CuTe DSL
is compiled for every GPU that `kernelbot preflight` knows; then once more for an H100 by processes
of its own, whose processor time is counted. Prints a table.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelbot.preflight.gpus import NAMES

_COMMAND = (sys.executable, "-P", "-m", "kernelbot.cli", "preflight")
_MENTIONS = ("import triton", "load_inline", "cpp_extension", "import cutlass")
_PLACES = ("submission*.py", "submissions/*.py", "solutions/correct/*.py", "template*.py")
_TIMEOUT_S = 1200
_SHOWN = 60


@dataclass(frozen=True)
class Row:
    """One published file."""

    file: str
    outcomes: dict[str, str]
    """By GPU."""
    registers: int | None
    """The most of any kernel on an H100."""
    processor_s: float
    why: str


def main() -> None:
    """Print the table."""
    root = Path(sys.argv[1])
    print(f"| file | {' | '.join(NAMES)} | registers | processor s | what wasn't compiled |")
    print("|---" * (len(NAMES) + 4) + "|")
    for problem in sorted(path.parent for path in root.rglob("task.yml")):
        for file in sorted({found for place in _PLACES for found in problem.glob(place)}):
            if any(word in file.read_text(errors="replace") for word in _MENTIONS):
                print(_line(_row(root, problem, file)), flush=True)


def _row(root: Path, problem: Path, file: Path) -> Row:
    with tempfile.TemporaryDirectory() as cache:
        found, _ = _preflight(problem, file, cache, "--all")
        reports = {one["report"]["gpu"]: one["report"] for one in found}
    with tempfile.TemporaryDirectory() as cache:
        _, processor_s = _preflight(problem, file, cache, "--gpu", "H100", "--cold")
    h100 = reports.get("H100", {"kernels": [], "not_compiled": [], "diagnostics": []})
    registers = [kernel["figures"]["registers"] or 0 for kernel in h100["kernels"]]
    said = [*h100["not_compiled"], *(one["message"] for one in h100["diagnostics"])]
    outcomes = {gpu: report["outcome"] for gpu, report in reports.items()}
    name = str(file.relative_to(root))
    return Row(name, outcomes, max(registers, default=None), processor_s, said[0] if said else "")


def _preflight(
    problem: Path, file: Path, cache: str, *options: str
) -> tuple[list[dict[str, Any]], float]:
    """The reports, and the processor time of all processes that the command started and ended."""
    command = [*_COMMAND, str(problem), str(file), *options, "--json"]
    env = {**os.environ, "XDG_CACHE_HOME": cache}
    before = os.times()
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    after = os.times()
    spent_s = sum(after[2:4]) - sum(before[2:4])
    document = json.loads(done.stdout)
    return document.get("gpus", []), spent_s


def _line(row: Row) -> str:
    marks = {"compiled": "yes", "does not compile": "no"}
    outcomes = " | ".join(marks.get(row.outcomes.get(gpu, ""), "?") for gpu in NAMES)
    why = row.why.replace("|", "/").replace("\n", " ")
    why = why if len(why) <= _SHOWN else f"{why[:_SHOWN]} ..."
    registers = "" if row.registers is None else str(row.registers)
    return f"| {row.file} | {outcomes} | {registers} | {row.processor_s:.1f} | {why} |"


if __name__ == "__main__":
    main()
