"""`python -m scripts.problem_memory FOLDER`: a table of all problems below a folder: how each is
judged, what its largest workload needs, and which GPUs have so much.

The folder is a checkout of problem sets; sources may not leave it. Nothing needs a GPU. The
problems' code is executed, without content (see `dry_run`), so use folders that you trust.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import KernelbotError
from scripts.problem_memory.dry_run import DryRun
from scripts.problem_memory.judging import SCRIPT, device_bytes, host_bytes, way_of

GIB = 1 << 30
GPUS = {"T4": 15, "L4": 22, "A100": 79, "H100": 79, "MI300X": 191}
"""GiB that programs can have; the A100 is the one with 80 GB."""
_HEADERS = (
    "problem",
    "judged",
    "largest workload",
    "data",
    "output",
    "on the device",
    "on the host",
)
_LIMIT_S = 600
_SHOWN = 60


def main(arguments: Sequence[str]) -> int:
    """The command; 1 if a problem can't be read."""
    parser = argparse.ArgumentParser(prog="python -m scripts.problem_memory")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="problems calculated at a time")
    given = parser.parse_args(arguments)
    folders = sorted(path.parent for path in given.folder.rglob("task.yml"))
    if not folders:
        print(f"There is no task.yml below {given.folder}.", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(given.jobs) as pool:
        try:
            rows = list(pool.map(partial(row, given.folder), folders))
        except KernelbotError as error:
            print(error, file=sys.stderr)
            return 1
    headers = (*_HEADERS, *GPUS)
    for cells in (headers, ["---"] * len(headers), *rows):
        print(f"| {' | '.join(cells)} |")
    return 0


def row(root: Path, folder: Path) -> list[str]:
    """A problem's cells. Raises `InvalidProblem`."""
    spec = load_problem(folder, root=root).definition.spec
    way = way_of(spec)
    run = DryRun("") if way is SCRIPT else dry_run(root, folder)
    ranks = max((int(str(case.args.get("world_size", 1))) for case in spec.benchmarks), default=1)
    needed = device_bytes(way, run)
    about = "at least " if run.unknown else ""
    cells = [
        str(folder.relative_to(root)),
        way.name if ranks == 1 else f"{way.name} ({ranks})",
        _shortened(run.case),
        _size(run.data_bytes),
        _size(run.output_bytes),
        f"{about}{_size(needed)}" if needed is not None else "?",
        _size(host_bytes(way, run)),
    ]
    if run.unknown:
        print(f"{cells[0]}: not all of it could be calculated: {run.unknown}", file=sys.stderr)
    return [*cells, *(_fits(needed, gib) for gib in GPUS.values())]


def dry_run(root: Path, folder: Path) -> DryRun:
    """What a problem needs, calculated in a process of its own."""
    command = [sys.executable, "-m", "scripts.problem_memory.dry_run", str(root), str(folder)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return DryRun("", unknown=f"not done within {_LIMIT_S} s")
    if done.returncode != 0:
        return DryRun("", unknown=(done.stderr.strip().splitlines() or ["it ended"])[-1])
    return DryRun(**json.loads(done.stdout.splitlines()[-1]))


def _shortened(case: str) -> str:
    """Without its seed, which changes no size."""
    shown = "; ".join(part for part in case.split("; ") if not part.startswith("seed:"))
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."


def _size(size_bytes: int | None) -> str:
    if size_bytes is None:
        return "?"
    if size_bytes >= GIB // 10:
        return f"{size_bytes / GIB:.1f} GiB"
    return f"{size_bytes / (1 << 20):.1f} MiB" if size_bytes else "0"


def _fits(needed: int | None, gib: int) -> str:
    if needed is None:
        return "?"
    return "yes" if needed <= gib * GIB else "no"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
