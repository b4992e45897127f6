"""`make gpu-check`: what can only be checked on a machine with a GPU, as one report.

Judges the CUDA and Triton examples on the GPU itself, sandbox on. Exit status 0: all as expected,
1: something isn't, 2: there is no GPU here, so nothing was checked.
"""

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from kernelbot.catalog.problem import load_problem
from kernelbot.harness.host import Host
from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Mode,
    ProgressEvent,
    RunResult,
    SourceFile,
    Vendor,
    Verdict,
)
from kernelbot.render.table import table

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PROBLEMS = ("vectoradd_cu", "vectoradd_triton", "vectoradd_py")
NO_GPU = 2


@dataclass(frozen=True)
class Gpu:
    """The first GPU as nvidia-smi tells it. `arch` is nvcc's name, such as `90`."""

    name: str
    arch: str


def find_gpu() -> Gpu | None:
    """None where there is no NVIDIA GPU, or no driver for it."""
    if shutil.which("nvidia-smi") is None:
        return None
    query = ["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"]
    done = subprocess.run(query, capture_output=True, text=True, check=False)
    return parse_gpu(done.stdout) if done.returncode == 0 else None


def parse_gpu(text: str) -> Gpu | None:
    """The first line of nvidia-smi's `name, compute_cap`; None where there is no such line."""
    first = next(iter(text.splitlines()), "")
    name, comma, capability = (part.strip() for part in first.rpartition(","))
    if not comma or not capability.replace(".", "").isdigit():
        return None
    return Gpu(name, capability.replace(".", ""))


def judge(host: Host, problem: str, submission: Path, gpu: Gpu) -> tuple[RunResult, float]:
    """A ranked, secret run on the GPU, and how long it took in seconds."""
    spec = load_problem(EXAMPLES / problem).definition.spec
    job = JobSpec(
        job_id=submission.stem,
        problem=spec,
        submission=SourceFile(submission.name, submission.read_text(encoding="utf-8")),
        mode=Mode.LEADERBOARD,
        device=DeviceSpec(gpu.name.replace(" ", "-"), Vendor.NVIDIA, arch=gpu.arch),
        secret=True,
        seed=time.time_ns() & 0x7FFFFFFF,
    )

    def quiet(_event: ProgressEvent) -> None:
        return

    start = time.monotonic()
    return host.judge(job, quiet), time.monotonic() - start


def check(gpu: Gpu) -> bool:
    """Print the report; whether all was as expected."""
    rows: list[tuple[str, ...]] = []
    fine = True
    host = Host()
    try:
        for problem in PROBLEMS:
            for kind in ("correct", "wrong"):
                for submission in sorted((EXAMPLES / problem / "solutions" / kind).iterdir()):
                    result, took_s = judge(host, problem, submission, gpu)
                    as_expected = (result.verdict is Verdict.ACCEPTED) == (kind == "correct")
                    as_expected &= result.verdict is not Verdict.INTERNAL_ERROR
                    fine &= as_expected
                    rows.append(_row(problem, submission, result, took_s, as_expected))
    finally:
        host.close()
    headers = ("problem", "submission", "verdict", "score us", "took s", "as expected")
    print(table(headers, rows, right=headers[3:5]))
    return fine


def _row(
    problem: str, submission: Path, result: RunResult, took_s: float, as_expected: bool
) -> tuple[str, ...]:
    score = "" if result.score_s is None else f"{result.score_s * 1e6:.2f}"
    why = result.failure.message.splitlines()[0][:60] if result.failure else ""
    said = "yes" if as_expected else f"NO: {why}"
    return problem, submission.name, str(result.verdict), score, f"{took_s:.2f}", said


def main() -> int:
    """The command; the exit status."""
    gpu = find_gpu()
    if gpu is None:
        print("There is no NVIDIA GPU here: nothing was checked.", file=sys.stderr)
        return NO_GPU
    print(f"{gpu.name}, sm_{gpu.arch}\n")
    return 0 if check(gpu) else 1


if __name__ == "__main__":
    sys.exit(main())
