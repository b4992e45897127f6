"""What is loaded beside an author's code, and a problem's, is what runs in the sandbox alone."""

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.protocol import ProgressEvent, RunResult
from tests.harness.jobs import REFERENCE, SORT, a_job, a_problem

ROOMS = {"words", "data", "inside"}
LOADED = """
import sys
def loaded():
    return "LOADED " + " ".join(sorted(n for n in sys.modules if n.startswith("kernelbot."))) + " ."
"""
KERNEL = LOADED + "def custom_kernel(data):\n    raise ValueError(loaded())\n"
IMPORTED = LOADED + "raise ValueError(loaded())\n"
CAGED = REFERENCE + LOADED
CHECKS = CAGED + "def check_implementation(data, output):\n    return False, loaded()\n"
MAKES = CAGED + "def generate_input(size, seed):\n    raise ValueError(loaded())\n"


def quiet(_event: ProgressEvent) -> None:
    return


def rooms(result: RunResult) -> set[str]:
    """Of the harness, by what the failure says is loaded."""
    assert result.failure is not None
    names = result.failure.message.split("LOADED ")[1].split(" .")[0].split()
    parts = [name.split(".") for name in names if name.startswith("kernelbot.harness.")]
    return {part[2] for part in parts}


@pytest.mark.parametrize("source", [IMPORTED, KERNEL], ids=["imported", "called"])
def test_a_runner_has_loaded_nothing_of_the_judges_side(host: Host, source: str) -> None:
    assert ROOMS == rooms(host.judge(a_job(source), quiet))


@pytest.mark.parametrize("reference", [MAKES, CHECKS], ids=["makes inputs", "compares"])
def test_a_cage_has_loaded_nothing_of_the_judges_side(host: Host, reference: str) -> None:
    job = a_job(SORT, problem=a_problem(reference=reference))
    assert ROOMS == rooms(host.judge(job, quiet))
