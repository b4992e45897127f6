"""Boards from one reference file; a judge really judges them."""

import sys
from types import ModuleType
from typing import Any

import pytest

from kernelbot.catalog.single_reference import problem_of
from kernelbot.domain.errors import InvalidProblem
from kernelbot.protocol import DeviceSpec, JobSpec, Mode, SourceFile, Vendor, Verdict
from kernelbot.server.judge_once import judge_once
from kernelbot.server.settings import Settings

OLDER = '''\
"""Double it."""
import numpy as np

def generate_input():
    return np.random.rand(64)

def ref_kernel(data):
    return data * 2

def check_implementation(custom_output, reference_output):
    return np.allclose(custom_output, reference_output)
'''
NEWER = """\
def generate_input(size=4, seed=0):
    return [seed] * size
def ref_kernel(data):
    return sum(data)
def check_implementation(data, output):
    return (output == sum(data), "the sum is wrong")
"""


def judged(reference: str, submission: str) -> tuple[Verdict, list[str]]:
    definition = problem_of("double", "reference.py", reference)
    job = JobSpec(
        job_id="1",
        problem=definition.spec,
        submission=SourceFile("submission.py", submission),
        mode=Mode.TEST,
        device=DeviceSpec("CPU", Vendor.CPU),
        limits=Settings().limits,
        sampling=Settings().sampling,
        sandbox=Settings().sandbox,
    )
    result = judge_once(job, lambda _: None)
    return result.verdict, [case.message for phase in result.phases for case in phase.cases]


@pytest.mark.exhaustive
def test_the_older_form_compares_two_outputs() -> None:
    right = judged(OLDER, "def custom_kernel(data):\n    return data + data\n")
    assert (Verdict.ACCEPTED, [""] * 5) == right


def test_the_newer_form_checks_an_output() -> None:
    """As a judge would: the adapter imports the reference by its name."""
    adapter, theirs = problem_of("sum", "reference.py", NEWER).spec.files
    assert ("reference.py", "board_reference.py", NEWER) == (adapter.name, theirs.name, theirs.text)
    module = ModuleType("board_reference")
    exec(theirs.text, vars(module))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "board_reference", module)
        found: dict[str, Any] = {}
        exec(adapter.text, found)
        assert [7, 7, 7, 7] == found["generate_input"](seed=7)
        assert (True, "the sum is wrong") == found["check_implementation"]([1, 2], 3)
        assert (False, "the sum is wrong") == found["check_implementation"]([1, 2], 4)


def test_the_docstring_is_the_statement() -> None:
    assert "Double it." == problem_of("double", "r.py", OLDER).description


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("r.cpp", "", "is neither Python nor CUDA"),
        ("r.py", "def (", "isn't Python"),
        ("r.py", "x = 1", "defines no ref_kernel and no generate_input"),
        ("r.py", NEWER.replace("size=4", "size"), "generate_input needs size"),
        ("r.py", "(" * 10_000, "isn't Python"),
    ],
)
def test_what_is_missing_is_said(name: str, text: str, said: str) -> None:
    with pytest.raises(InvalidProblem, match=said):
        problem_of("double", name, text)
