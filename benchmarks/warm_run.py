"""How long `kernelbot run` takes as a whole, cold and warm, for a numpy and a torch problem.

Run with `python -m benchmarks.warm_run [--repeat N]`, on a machine that does nothing else: the
load beside each row is the average of the last minute. The benchmark's warm judges are in a folder
of its own, and end with it.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.support.warm import end_judges

from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.render.table import table

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
CASES = {"numpy": "sort_np", "torch": "vectoradd_py"}
_PAUSE_S = 0.5
"""Between two runs, as between two commands of a person: the judge gets ready for the next."""


def wall_ms(problem: Path, runtime: Path, *options: str) -> float:
    """One `kernelbot run` from start to end. Raises CalledProcessError unless it is accepted."""
    time.sleep(_PAUSE_S)
    command = [str(Path(sys.executable).with_name("kernelbot")), "run", str(problem)]
    began = time.perf_counter()
    subprocess.run(
        [*command, str(problem / "submission.py"), *options],
        check=True,
        capture_output=True,
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime), "KERNELBOT_COLD": ""},
    )
    return (time.perf_counter() - began) * 1e3


def rows(runtime: Path, repeat: int) -> list[tuple[str, ...]]:
    """A row for each framework and way of judging."""
    found = []
    for framework, name in CASES.items():
        problem = EXAMPLES / name
        cold = [wall_ms(problem, runtime, "--cold") for _ in range(repeat)]
        found.append(_row(name, framework, "cold", cold))
        first = [wall_ms(problem, runtime)]
        found.append(_row(name, framework, "warm, the first", first))
        warm = [wall_ms(problem, runtime) for _ in range(repeat)]
        found.append(_row(name, framework, "warm, the next", warm))
    return found


def _row(name: str, framework: str, kind: str, times_ms: list[float]) -> tuple[str, ...]:
    figures = (min(times_ms), statistics.median(times_ms), max(times_ms))
    load = f"{os.getloadavg()[0]:.1f}"
    return (name, framework, kind, *(f"{figure:.0f}" for figure in figures), load)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    headers = ("problem", "framework", "judged", "least ms", "median ms", "most ms", "load")
    with tempfile.TemporaryDirectory() as runtime:
        found = rows(Path(runtime), repeat)
        end_judges(PrivateFolder.open(Path(runtime, "kernelbot")))
    print(f"kernelbot run, {repeat} times:\n")
    print(table(headers, found, right=headers[3:]))


if __name__ == "__main__":
    main()
