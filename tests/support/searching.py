"""An author who looks everywhere for what they must not know."""

import dataclasses

from kernelbot.protocol import JobSpec, Timeouts
from tests.harness.jobs import a_job, a_problem

MARK = "the_secret_of_this_reference"
SORTED = "def custom_kernel(data):\n    return sorted(data)\n"
_REFERENCE = f"""
{MARK} = 1
def generate_input(size, seed):
    return [(seed * i) % 101 for i in range(size)]
def check_implementation(data, output):
    return output == sorted(data)
"""

_SEARCH = """
import os

def _texts():
    yield str(dict(os.environ))
    for pid in os.listdir("/proc"):
        for name in ("environ", "cmdline"):
            try:
                yield open(f"/proc/{pid}/{name}", "rb").read().decode("latin-1")
            except OSError:
                pass
    for root in PLACES:
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    if os.path.isfile(path):
                        yield open(path, "rb").read(1 << 20).decode("latin-1")
                except OSError:
                    pass

def _search():
    for text in _texts():
        for mark in MARKS:
            if mark in text:
                raise RuntimeError("found " + text[:500])

_search()

def custom_kernel(data):
    return sorted(data)
"""


def searching_submission(places: list[str], marks: list[str]) -> str:
    """Sorts a list, if none of the marks is in an environment, a command or a file below the
    places, as the author's process sees them; else it says where one was found. Marks are joined of
    halves in it, or the search would find itself."""
    halves = [(mark[: len(mark) // 2], mark[len(mark) // 2 :]) for mark in marks]
    joined = ", ".join(f"{first!r} + {second!r}" for first, second in halves)
    return _SEARCH.replace("PLACES", repr(places)).replace("MARKS", f"({joined},)")


def bare_job(source: str = SORTED, *, job_id: str = "7.1.abc", secret: bool = False) -> JobSpec:
    """One that needs nothing but Python, with `MARK` in its reference."""
    problem = a_problem(reference=_REFERENCE, timeouts=Timeouts(test_s=30))
    return dataclasses.replace(a_job(source, problem=problem, secret=secret), job_id=job_id)
