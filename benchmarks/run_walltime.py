"""Where the wall time of `kernelbot run --cold` goes, for the smallest numpy and torch problems.

Run with `python -m benchmarks.run_walltime [--repeat N]`. Start-up is everything outside the
phases: Python, reading the problem, the harness, the sandbox. The kernel is the time inside the
author's function while it was timed.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from kernelbot.render.table import table

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
CASES = ("identity_np", "vectoradd_py")


@dataclass(frozen=True)
class Split:
    """One `kernelbot run`, in seconds."""

    wall_s: float
    phases_s: float
    kernel_s: float

    @property
    def startup_s(self) -> float:
        """Outside the phases."""
        return self.wall_s - self.phases_s


def judge(problem: Path, submission: Path, mode: str) -> Split:
    """Run once. Raises CalledProcessError unless the submission is accepted."""
    command = [sys.executable, "-m", "kernelbot", "run", str(problem), str(submission)]
    began = time.perf_counter()
    done = subprocess.run(
        [*command, "--mode", mode, "--cold", "--json"], check=True, capture_output=True, text=True
    )
    wall_s = time.perf_counter() - began
    phases = json.loads(done.stdout)["phases"].values()
    kernel_ns = sum(
        workload["mean_ns"] * workload["samples"]
        for phase in phases
        for workload in phase.get("workloads", ())
    )
    return Split(wall_s, sum(phase["duration_s"] for phase in phases), kernel_ns / 1e9)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    rows = []
    for name in CASES:
        submission = min((EXAMPLES / name / "solutions" / "correct").iterdir())
        for mode in ("test", "leaderboard"):
            splits = [judge(EXAMPLES / name, submission, mode) for _ in range(repeat)]
            figures = [
                statistics.median(values)
                for values in zip(
                    *((s.wall_s, s.startup_s, s.phases_s, s.kernel_s) for s in splits), strict=True
                )
            ]
            rows.append([name, mode, *(f"{figure * 1e3:.0f}" for figure in figures)])
    headers = ("problem", "mode", "wall ms", "start-up ms", "phases ms", "timed kernel ms")
    print(f"kernelbot run, median of {repeat}:\n")
    print(table(headers, rows, right=headers[2:]))


if __name__ == "__main__":
    main()
