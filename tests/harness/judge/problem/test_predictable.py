"""What a kernel could know of the timed calls, as `problem check` finds it."""

from dataclasses import replace

import pytest

from kernelbot.protocol import Case, HarnessKind, ProblemSpec, SourceFile
from tests.harness.jobs import REFERENCE, a_problem
from tests.harness.problem_code import tried
from tests.support.exhaustive import cases, few

pytestmark = pytest.mark.each_run(
    "test_of_other_scripts_nothing_is_said",
    "test_a_workload_without_a_seed_recurs",
    "test_data_that_hold_their_seed_are_noted",
)

GENERATED = "return np.random.default_rng(seed).standard_normal(size).astype(np.float32)"
FROM_GLOBAL = "np.random.seed(seed); return np.random.standard_normal(size).astype(np.float32)"


def test_a_few_kinds_of_data_recur() -> None:
    problem = a_problem(reference=REFERENCE.replace("(seed)", "(seed % 20)"))
    (trouble,) = tried(problem)
    assert "The data of timed calls recurs (size: 2000; seed: 1)" in trouble.message
    assert () == tried(replace(problem, recurring_data=True))


def by_script(reference: str) -> ProblemSpec:
    """A problem that is judged by a script of its own, which is never run here."""
    files = (SourceFile("reference.py", reference), SourceFile("eval.py", "raise SystemExit(1)"))
    return replace(a_problem(), harness=HarnessKind.SCRIPT, files=files)


@pytest.mark.parametrize("seed", cases(["7", "seed % 20"], always=["seed % 20"]))
def test_a_script_s_generator_is_asked_as_well(seed: str) -> None:
    problem = by_script(REFERENCE.replace("(seed)", f"({seed})"))
    (note,) = tried(problem)
    assert "generate_input makes the same data again" in note.message
    assert (True, False) == ("(size: 2000; seed: 1)" in note.message, note.is_fatal)
    assert () == tried(replace(problem, recurring_data=True))


@pytest.mark.parametrize(
    "reference",
    cases(
        [REFERENCE, "", "def ref_kernel(data):\n    return data\n", "generate_input = 7\n"],
        always=[REFERENCE],
    ),
)
def test_of_other_scripts_nothing_is_said(reference: str) -> None:
    assert () == tried(by_script(reference))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    few(
        [
            ("return np.random", "return 1 / 0 + np.random", "ZeroDivisionError: division by zero"),
            (
                "import numpy as np",
                "import nowhere",
                "ModuleNotFoundError: No module named 'nowhere'",
            ),
            (
                "def check_implementation",
                "def check",
                "AttributeError: module 'reference' has no attribute 'check_implementation'",
            ),
            (
                "astype(np.float32)",
                "astype(np.float32), object()",
                "UnsupportedValue: a value of type builtins.object",
            ),
        ],
        1,
    ),
)
def test_what_of_a_script_can_t_be_asked_is_said(old: str, new: str, said: str) -> None:
    (note,) = tried(by_script(REFERENCE.replace(old, new)))
    expected = "Whether its data recurs isn't known: its reference.py can't be asked here"
    assert (f"{expected} ({said}).", False) == (note.message, note.is_fatal)


def test_a_workload_without_a_seed_recurs() -> None:
    problem = a_problem(reference=REFERENCE.replace("(size, seed)", "(size, seed=7)"))
    (trouble,) = tried(replace(problem, benchmarks=(Case({"size": 2000}),)))
    assert "recurs (size: 2000)" in trouble.message


@pytest.mark.parametrize(
    ("where", "body"),
    few(
        [
            ("ref_kernel", "    return np.sort(data) + 0 * np.random.random()"),
            ("ref_kernel", "    import random; return np.sort(data) + 0 * random.random()"),
            ("ref_kernel", "    import torch; torch.rand(1); return np.sort(data)"),
        ],
        1,
    ),
)
def test_a_reference_that_draws_after_the_data_is_noted(where: str, body: str) -> None:
    reference = REFERENCE.replace(GENERATED, FROM_GLOBAL)
    found = tried(a_problem(reference=reference.replace("    return np.sort(data)", body)))
    assert (where, False) == (found[0].message.split()[0], found[0].is_fatal)


def test_so_is_a_checker_that_does() -> None:
    drawing = REFERENCE.replace("    expected = ref", "    np.random.random()\n    expected = ref")
    (note,) = tried(a_problem(reference=drawing))
    assert ("check_implementation", False) == (note.message.split()[0], note.is_fatal)


def test_data_that_hold_their_seed_are_noted() -> None:
    reference = """
import numpy as np
def generate_input(size, seed):
    return np.random.default_rng(seed).standard_normal(size), seed
def ref_kernel(data):
    return np.sort(data[0])
def check_implementation(data, output):
    return bool(np.array_equal(ref_kernel(data), output)), "not sorted"
"""
    (note,) = tried(a_problem(reference=reference))
    assert note.message.startswith("The data hold their seed")
