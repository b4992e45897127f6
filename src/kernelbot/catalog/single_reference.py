"""A problem from one reference file, as organisers attach it in a chat."""

import ast

from kernelbot.boards.model import ProblemDefinition
from kernelbot.catalog import single_cuda
from kernelbot.catalog.reference import REFERENCE, Signature, read_reference
from kernelbot.domain.errors import InvalidProblem
from kernelbot.protocol import (
    BuildConfig,
    Case,
    HarnessKind,
    Lang,
    ProblemSpec,
    RankRule,
    SourceFile,
)

_THEIRS = "board_reference"
_WANTED = ("ref_kernel", "generate_input", "check_implementation")
_TESTS = tuple(Case({"seed": seed}) for seed in (4242, 5236, 1001, 5531, 9173))
_WORKLOADS = (Case({"seed": 6252}),)
_SEES_INPUT = frozenset({"data", "input", "inputs", "input_data"})
"""Names of `check_implementation`'s first argument if it is the input, as in newer problems."""
_TEMPLATE = """\
def custom_kernel(data):
    raise NotImplementedError
"""
_ADAPTER = '''\
"""Lets a reference whose generator takes no seed be judged."""

import random
import sys

import board_reference


def generate_input(seed):
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
    return board_reference.generate_input({arguments})


def ref_kernel(data):
    return board_reference.ref_kernel(data)


def check_implementation(data, output):
    {check}
    if isinstance(verdict, tuple):
        return verdict
    return bool(verdict), "" if verdict else "the output isn't what the reference gives"
'''
_COMPARES = "verdict = board_reference.check_implementation(output, ref_kernel(data))"
_CHECKS = "verdict = board_reference.check_implementation(data, output)"


def problem_of(name: str, file_name: str, text: str) -> ProblemDefinition:
    """A problem with a few seeds as its cases. Nothing of the text is executed.

    `generate_input` takes nothing or a seed; `check_implementation` compares two outputs, or, in
    Python, an input and an output. Raises `InvalidProblem`.
    """
    if file_name.lower().endswith(single_cuda.SUFFIXES):
        return single_cuda.cuda_problem_of(name, text, _TESTS, _WORKLOADS)
    if not file_name.lower().endswith(".py"):
        raise InvalidProblem(
            f"{file_name!r} is neither Python nor CUDA.",
            hint="Attach a file whose name ends in .py or .cu.",
        )
    return _python_problem(name, text)


def _python_problem(name: str, text: str) -> ProblemDefinition:
    try:
        found = read_reference(text)
    except SyntaxError as error:
        raise InvalidProblem(f"The reference isn't Python: {error}") from None
    missing = [wanted for wanted in _WANTED if wanted not in found.defines]
    if missing:
        raise InvalidProblem(
            f"The reference defines no {' and no '.join(missing)}.",
            hint=f"It needs {', '.join(_WANTED)} at its top level.",
        )
    adapter = _ADAPTER.format(
        arguments=_arguments(found.signature), check=_CHECKS if _sees_input(text) else _COMPARES
    )
    spec = ProblemSpec(
        name=name,
        lang=Lang.PY,
        harness=HarnessKind.NATIVE,
        harness_reason="The reference offers generate_input and check_implementation.",
        files=(SourceFile(REFERENCE, adapter), SourceFile(f"{_THEIRS}.py", text)),
        submission_name="submission.py",
        config=BuildConfig(main="eval.py"),
        tests=_TESTS,
        benchmarks=_WORKLOADS,
        ranking_by=RankRule.LAST,
    )
    description = ast.get_docstring(ast.parse(text)) or f"As fast as you can: {name}."
    return ProblemDefinition(spec, description, (), {"Python": _TEMPLATE})


def _arguments(signature: Signature | None) -> str:
    if signature is None or not signature.required:
        seeded = signature is not None and "seed" in signature.accepted
        return "seed=seed" if seeded else ""
    if signature.required == {"seed"}:
        return "seed=seed"
    names = ", ".join(sorted(signature.required))
    raise InvalidProblem(
        f"generate_input needs {names}, which a single file can't give.",
        hint="Give them defaults, or sync a folder with a task.yml that lists the cases.",
    )


def _sees_input(text: str) -> bool:
    """Whether the checker's first argument is the input, and not an output."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == "check_implementation":
            arguments = [*node.args.posonlyargs, *node.args.args]
            return bool(arguments) and arguments[0].arg in _SEES_INPUT
    return False
