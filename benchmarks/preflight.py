"""What a public set's published files do without a GPU: for which GPUs they compile, and what the
device CPU says of them.

    python -m benchmarks.preflight FOLDER --results FILE [--limit-s 300] [--only TEXT] [--timed]
        [--tests COUNT]

FOLDER: a checkout of the problem sets. Each published file is compiled for every GPU that
`kernelbot preflight` knows (or those of `--gpus`), and tested on the device CPU; with `--timed` it
is compiled once more for an H100 by processes of its own, whose processor time is counted. With
`--tests` only so many of a problem's tests are run, its first. Each file's figures are appended to
FILE, and what is there isn't done again; the table is printed at the end. A command that takes
longer than the limit is ended.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from kernelbot.preflight.gpus import NAMES

_CLI = (sys.executable, "-P", "-m", "kernelbot.cli")
_MENTIONS = (
    "import triton", "load_inline", "cpp_extension", "import cutlass", "import helion",
    "torch.compile",
)  # fmt: skip
_PLACES = (
    "submission*.py",
    "template[-_]*.py",
    "submissions/*.py",
    "solutions/correct/*.py",
)
"""Templates in another language are kernels that work; `template.py` is an empty one."""
_SHOWN = 110
_COMPILED, _REFUSED = "compiled", "does not compile"
_NOT_COVERED = ("can't run on the device CPU", "No module named", "CUDA", "HIP", "ROCM", "GPU")
_TOO_LONG = "no end within the limit"


@dataclass(frozen=True)
class Row:
    """One published file."""

    file: str
    outcomes: dict[str, str]
    """By GPU; empty: it mentions no compiler, or none ended in time."""
    registers: int | None
    """The most of any kernel on an H100."""
    preflight_s: float | None
    """None: nothing was compiled, or it wasn't counted."""
    why: str
    """What wasn't compiled, and why."""
    verdict: str
    """On the device CPU."""
    test_s: float
    """By the clock."""
    said: str
    """Why it wasn't accepted."""


@dataclass(frozen=True)
class Ended:
    """A command's document, empty if there is none, and the processor time of its processes."""

    document: dict[str, Any]
    processor_s: float
    is_late: bool


def main() -> None:
    """Do what isn't done, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--limit-s", type=float, default=300.0, help="For each command.")
    parser.add_argument("--only", default="", help="Files whose path has this in it.")
    parser.add_argument("--gpus", nargs="+", default=list(NAMES))
    parser.add_argument("--timed", action="store_true", help="Count processor time as well.")
    parser.add_argument("--tests", type=int, help="Only the first so many of a problem.")
    parser.add_argument("--print", action="store_true", help="Print what is there already.")
    options = parser.parse_args()
    rows = _stored(options.results)
    if not options.print:
        with own_turn(), with_tests(options.folder, options.tests) as folder:
            for problem, file in published(folder):
                name = str(file.relative_to(folder))
                if name not in rows and options.only in name:
                    row = rows[name] = _examined(name, problem, file, options)
                    with options.results.open("a") as results:
                        results.write(json.dumps(asdict(row)) + "\n")
                    print(_line(row), flush=True)
    print(_table(rows))


@contextlib.contextmanager
def with_tests(folder: Path, count: int | None) -> Iterator[Path]:
    """The problem sets; unless `count` is None, a copy whose problems have that many tests. The
    copy is a checkout by itself, since problems may have files of the folders above theirs."""
    if count is None:
        yield folder
        return
    with tempfile.TemporaryDirectory() as place:
        copy = Path(shutil.copytree(folder, Path(place, folder.resolve().name)))
        (copy / ".git").mkdir(exist_ok=True)
        for file in copy.rglob("task.yml"):
            task: dict[str, Any] = yaml.safe_load(file.read_text())
            task["tests"] = task.get("tests", [])[:count]
            file.write_text(yaml.safe_dump(task))
        yield copy


def _stored(results: Path) -> dict[str, Row]:
    if not results.exists():
        return {}
    rows = (Row(**json.loads(line)) for line in results.read_text().splitlines())
    return {row.file: row for row in rows}  # the last one counts


def published(folder: Path) -> list[tuple[Path, Path]]:
    """Each problem's folder with a file of it, those first that have something to compile."""
    found = [
        (problem, file)
        for problem in sorted(path.parent for path in folder.rglob("task.yml"))
        for file in sorted({found for place in _PLACES for found in problem.glob(place)})
    ]
    return sorted(found, key=lambda one: not _has_kernels(one[1]))


def _has_kernels(file: Path) -> bool:
    return any(word in file.read_text(errors="replace") for word in _MENTIONS)


def _examined(name: str, problem: Path, file: Path, options: argparse.Namespace) -> Row:
    reports, preflight_s, why = _compiled(problem, file, options)
    h100 = reports.get("H100", {"kernels": []})
    registers = [kernel["figures"]["registers"] or 0 for kernel in h100["kernels"]]
    test = run(["run", str(problem), str(file), "--device", "CPU", "--json"], options.limit_s)
    verdict, said = tested(test)
    return Row(
        name,
        {gpu: report["outcome"] for gpu, report in reports.items()},
        max(registers, default=None),
        preflight_s,
        why,
        verdict,
        round(float(test.document.get("duration_s", 0.0)), 1),
        said,
    )


def _compiled(
    problem: Path, file: Path, options: argparse.Namespace
) -> tuple[dict[str, Any], float | None, str]:
    """Reports by GPU, the processor time for an H100, and what wasn't compiled."""
    if not _has_kernels(file):
        return {}, None, "nothing to compile"
    command = ["preflight", str(problem), str(file), "--json"]
    named = [word for gpu in options.gpus for word in ("--gpu", gpu)]
    every = run([*command, *named], options.limit_s * len(options.gpus))
    reports = {one["report"]["gpu"]: one["report"] for one in every.document.get("gpus", [])}
    processor_s = None
    if options.timed:
        with tempfile.TemporaryDirectory() as cache:
            alone = run([*command, "--gpu", "H100", "--cold"], options.limit_s, Path(cache))
        processor_s = round(alone.processor_s, 1)
    said: Counter[str] = Counter()
    for report in reports.values():
        errors = [one["message"] for one in report["diagnostics"] if one["severity"] == "error"]
        said.update([*errors, *report["not_compiled"]][:1])
    why = "; ".join(said) if reports else _TOO_LONG if every.is_late else "no report"
    return reports, processor_s, why


def tested(test: Ended) -> tuple[str, str]:
    """How the test ended, and why it wasn't accepted."""
    verdict, error = test.document.get("verdict"), test.document.get("error") or {}
    if verdict is None:
        said = error.get("message") or error.get("detail") or test.document.get("message", "")
        return ("no end", _TOO_LONG) if test.is_late else ("refused", str(said))
    said = " ".join(str(error.get(key) or "") for key in ("message", "evidence")).strip()
    if verdict == "accepted":
        return "accepted", ""
    if verdict == "time_limit":
        return "no end", said
    of_author = error.get("fault") == "author"
    uncovered = any(word in said for word in _NOT_COVERED) or not of_author
    uncovered = uncovered or verdict == "memory_limit"  # the device's, and data are large
    return "not covered" if uncovered else "refused", said or str(verdict)


@contextlib.contextmanager
def own_turn() -> Iterator[None]:
    """Commands started meanwhile wait for no other `kernelbot run` of this account: what they
    waited would count into their limits, and a busy machine's endings would be `time_limit`. Their
    warm judge ends by itself once nobody has asked it for ten minutes."""
    before = os.environ.get("XDG_RUNTIME_DIR")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        try:
            yield
        finally:
            del os.environ["XDG_RUNTIME_DIR"]
            if before is not None:
                os.environ["XDG_RUNTIME_DIR"] = before


def run(arguments: list[str], limit_s: float, cache: Path | None = None) -> Ended:
    """Run a command of ours, and end it after the limit. `cache`: a folder of its own for it."""
    kept = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    if cache is not None:
        _share(kept / "kernelbot/builds/headers", cache / "kernelbot/builds/headers")
    with tempfile.TemporaryFile() as output:
        env = {**os.environ, "XDG_CACHE_HOME": str(cache or kept)}
        before = os.times()
        process = subprocess.Popen(
            [*_CLI, *arguments], env=env, stdout=output, start_new_session=True
        )
        try:
            process.wait(limit_s)
            is_late = False
        except subprocess.TimeoutExpired:
            is_late = True
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        after = os.times()
        output.seek(0)
        document: dict[str, Any] = {}
        with contextlib.suppress(ValueError):
            document = json.loads(output.read())
    return Ended(document, sum(after[2:4]) - sum(before[2:4]), is_late)


def _share(kept: Path, place: Path) -> None:
    """Headers that were compiled in advance are made once on a machine, so they aren't counted."""
    if kept.is_dir():
        place.parent.mkdir(mode=0o700, parents=True)
        place.symlink_to(kept)


def _table(rows: dict[str, Row]) -> str:
    head = ("file", "compiles for", "registers", "s", "not compiled", "device CPU", "s", "why")
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    return "\n".join([*lines, *(_line(rows[name]) for name in sorted(rows))])


def _line(row: Row) -> str:
    cells = (
        row.file,
        _gpus(row.outcomes),
        "" if row.registers is None else str(row.registers),
        "" if row.preflight_s is None else f"{row.preflight_s:.1f}",
        _short(row.why),
        row.verdict,
        f"{row.test_s:.1f}",
        _short(row.said),
    )
    return f"| {' | '.join(cells)} |"


def _gpus(outcomes: dict[str, str]) -> str:
    compiled = [gpu for gpu in NAMES if outcomes.get(gpu) == _COMPILED]
    refused = [gpu for gpu in NAMES if outcomes.get(gpu) == _REFUSED]
    parts = [", ".join(compiled) if len(compiled) < len(NAMES) else "all"] if compiled else []
    return "; ".join([*parts, *(f"not {gpu}" for gpu in refused)])


def _short(text: str) -> str:
    lines = text.strip().splitlines()
    shown = lines[-1] if "Traceback" in text else text
    flat = " ".join(shown.replace("|", "/").split())
    return flat if len(flat) <= _SHOWN else f"{flat[:_SHOWN]} ..."


if __name__ == "__main__":
    main()
