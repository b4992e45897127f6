"""A problem from one reference file in CUDA, as organisers attach it in a chat."""

import re
from importlib.resources import files

from kernelbot.boards.model import ProblemDefinition
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

SUFFIXES = (".cu", ".cuh")
_TYPES = ("input_t", "output_t")
_FUNCTIONS = ("generate_input", "reference", "check_implementation")
_COMMENT = re.compile(r"//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
"""One that doesn't end is one, so that it is searched for its end only once."""
_FIRST_COMMENT = re.compile(r"\s*(?:/\*(.*?)\*/|((?:[ \t]*//[^\n]*\n?)+))", re.DOTALL)
_MARKS = re.compile(r"^[ \t]*(?:///?|\*)[ \t]?", re.MULTILINE)


def cuda_problem_of(
    name: str, text: str, tests: tuple[Case, ...], benchmarks: tuple[Case, ...]
) -> ProblemDefinition:
    """A problem that is judged by a script of ours, compiled together with the reference and the
    submission. Every case has a `seed`.

    `generate_input` takes nothing or a seed. Raises `InvalidProblem`.
    """
    code = _COMMENT.sub(" ", text)
    missing = [f"type {wanted}" for wanted in _TYPES if not _has(code, rf"\b{wanted}\b")]
    missing += [f"function {one}" for one in _FUNCTIONS if not _has(code, rf"\b{one}\s*\(")]
    if missing:
        raise InvalidProblem(
            f"The reference defines no {' and no '.join(missing)}.",
            hint=f"It needs the types {', '.join(_TYPES)} and the functions "
            f"{', '.join(_FUNCTIONS)}.",
        )
    folder = files("kernelbot.catalog") / "skeletons" / "single_cu"
    evaluator = (folder / "eval.cu.txt").read_text().replace("@ARGUMENTS@", _arguments(code))
    spec = ProblemSpec(
        name=name,
        lang=Lang.CU,
        harness=HarnessKind.SCRIPT,
        harness_reason="Its reference is in CUDA, and is compiled together with the submission.",
        files=(
            SourceFile("eval.cu", evaluator),
            SourceFile("reference.cuh", f"#pragma once\n#line 1\n{text}"),
        ),
        submission_name="submission.cu",
        config=BuildConfig(sources=("eval.cu",)),
        tests=tests,
        benchmarks=benchmarks,
        ranking_by=RankRule.LAST,
    )
    template = (folder / "submission.cu.txt").read_text()
    return ProblemDefinition(spec, _description(name, text), (), {"CUDA": template})


def _has(code: str, pattern: str) -> bool:
    return re.search(pattern, code) is not None


def _arguments(code: str) -> str:
    """What the generator is called with. Raises `InvalidProblem`."""
    after = re.split(r"\bgenerate_input\s*\(", code, maxsplit=1)[1]
    inside = after.partition(")")[0].strip()
    parameters = [] if inside in ("", "void") else inside.split(",")
    seeded = bool(parameters) and _has(parameters[0], r"\bseed\b")
    if all("=" in one for one in parameters[seeded:]):
        return "seed" if seeded else ""
    raise InvalidProblem(
        "generate_input needs what a single file can't give.",
        hint="It may take nothing or a seed; or sync a folder with a task.yml that lists the "
        "cases.",
    )


def _description(name: str, text: str) -> str:
    """The comment at the beginning, without its marks."""
    found = _FIRST_COMMENT.match(text)
    said = _MARKS.sub("", (found[1] or found[2]) if found else "").strip()
    return said or f"As fast as you can: {name}."
