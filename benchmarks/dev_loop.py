"""How long `kernelbot dev` takes from a save to the verdict of the tests, for a torch problem with
five of them.

Run with `python -m benchmarks.dev_loop [--repeat N]`, on a machine that does nothing else: the load
beside the times is the average of the last minute. Each save comes while the one before is being
timed, as when somebody works.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tests.support.warm import end_judges

from benchmarks.figures import quantile
from kernelbot.harness.host.warm.folder import PrivateFolder

PROBLEM = Path(__file__).resolve().parent.parent / "examples" / "vectoradd_py"
_PAUSE_S = 1.0
"""Between two saves; shorter than what a save takes to be timed."""


def with_a_fifth_test(folder: Path) -> Path:
    """A copy of the problem in the folder."""
    problem = Path(shutil.copytree(PROBLEM, folder / PROBLEM.name))
    task = problem / "task.yml"
    task.write_text(task.read_text().replace("tests:\n", "tests:\n  - {size: 64, seed: 7}\n"))
    return problem


@contextmanager
def session(problem: Path, file: Path, home: Path) -> Iterator[IO[str]]:
    """What `kernelbot dev` prints for a file."""
    command = [sys.executable, "-P", "-m", "kernelbot.cli", "dev", str(problem), str(file)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "XDG_RUNTIME_DIR": str(home), "XDG_STATE_HOME": str(home / "state")},
    )
    assert process.stdout is not None
    try:
        yield process.stdout
    finally:
        process.terminate()
        process.communicate()
        end_judges(PrivateFolder.open(home / "kernelbot"))


def save(file: Path, text: str) -> float:
    """Save it as an editor does; when, in seconds."""
    other = file.with_suffix(".new")
    other.write_text(text)
    other.rename(file)
    return time.perf_counter()


def await_verdict(lines: IO[str]) -> float:
    """When the tests of the newest save have ended. Raises ValueError unless they are accepted."""
    for line in lines:
        if " tests: " in line and line[1:].startswith(" tests"):
            if "accepted" not in line:
                raise ValueError(line)
            return time.perf_counter()
    raise ValueError("The session ended.")


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=30)
    repeat = parser.parse_args().repeat
    source = (PROBLEM / "submission.py").read_text()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "mine.py")
        file.write_text(source)
        times_ms = []
        problem = with_a_fifth_test(Path(folder))
        with session(problem, file, Path(folder)) as lines:
            await_verdict(lines)
            for number in range(repeat):
                time.sleep(_PAUSE_S)
                saved_s = save(file, f"{source}# {number}\n")
                times_ms.append((await_verdict(lines) - saved_s) * 1e3)
    print(f"Save to verdict, {PROBLEM.name}, {repeat} saves, load {os.getloadavg()[0]:.1f}:")
    print(
        f"least {min(times_ms):.0f} ms, median {statistics.median(times_ms):.0f} ms, "
        f"95 % within {quantile(times_ms, 0.95):.0f} ms"
    )


if __name__ == "__main__":
    main()
