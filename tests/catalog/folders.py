"""Problem folders for the tests of this package."""

from pathlib import Path

TASK = """\
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "reference.py", "source": "reference.py"}
lang: py
description: Return the input.
tests:
  - {"size": 4, "seed": 1}
benchmarks:
  - {"size": 8, "seed": 2}
"""

REFERENCE = """\
def generate_input(size: int, seed: int, case: str = "dense"):
    return [seed] * size


def check_implementation(data, output):
    return data == output
"""


def write_problem(
    folder: Path, task: str = TASK, *, reference: str | None = REFERENCE, git: bool = True
) -> Path:
    """A folder `problem` with a task.yml, in a checkout when `git`."""
    problem = folder / "problem"
    problem.mkdir(parents=True)
    if git:
        (folder / ".git").mkdir()
    (problem / "task.yml").write_text(task)
    if reference is not None:
        (problem / "reference.py").write_text(reference)
    return problem
