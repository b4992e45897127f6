"""What is found in a problem's own code before anybody submits."""

from dataclasses import asdict, replace

import pytest

from kernelbot.harness.judge.problem.troubles import ProblemTrouble
from kernelbot.protocol import HarnessKind, ProblemSpec
from tests.harness.jobs import REFERENCE, a_problem
from tests.harness.problem_code import tried

SEEDED = "np.random.default_rng(seed).standard_normal(size)"


def with_checker(body: str) -> str:
    head, _, _ = REFERENCE.partition("def check_implementation")
    return f"{head}def check_implementation(data, output):\n    {body}\n"


@pytest.mark.exhaustive  # each run has test_what_has_no_native_judge_is_not_tried
def test_a_sound_problem_has_no_trouble() -> None:
    assert () == tried(a_problem())


def test_a_generator_without_a_seed() -> None:
    unseeded = REFERENCE.replace(SEEDED, "np.random.standard_normal(size)")
    (trouble,) = tried(a_problem(reference=unseeded))
    assert "generate_input returned different data for the same arguments" in trouble.message
    assert "tests[0] (size: 1; seed: 4242)" in trouble.message


def test_memory_that_nobody_wrote_is_no_data() -> None:
    reference = """
import numpy as np
import itertools
count = itertools.count()
def generate_input(size, seed):
    return np.random.default_rng(seed).standard_normal(size), np.full(size, float(next(count)))
def ref_kernel(data):
    return np.sort(data[0])
def check_implementation(data, output):
    return bool(np.array_equal(ref_kernel(data), output)), "not sorted"
"""
    assert () == tried(a_problem(reference=reference))


@pytest.mark.exhaustive  # each run has test_what_has_no_native_judge_is_not_tried
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("pass", "check_implementation returned None for ref_kernel's own output"),
        ("return False, 'off'", "check_implementation refuses ref_kernel's own output"),
        ("return data.nothing", "check_implementation failed on ref_kernel's own output"),
    ],
)
def test_a_checker_that_fails_the_reference(body: str, said: str) -> None:
    (trouble,) = tried(a_problem(reference=with_checker(body)))
    assert said in trouble.message


def test_an_exception_is_told_with_its_lines() -> None:
    broken = REFERENCE.replace(SEEDED, "_inner()") + "def _inner():\n    return {}['x']\n"
    (trouble,) = tried(a_problem(reference=broken))
    assert "The problem's generate_input failed: KeyError: 'x'" == trouble.message
    assert "reference.py, line 5, in generate_input\nreference.py, line 14, in _inner" == (
        trouble.evidence
    )


def test_what_has_no_native_judge_is_not_tried() -> None:
    scripted: ProblemSpec = replace(
        a_problem(reference="raise ValueError"), harness=HarnessKind.SCRIPT
    )
    assert () == tried(scripted)
    assert {"message": "x", "evidence": "", "is_fatal": True} == asdict(ProblemTrouble("x"))
