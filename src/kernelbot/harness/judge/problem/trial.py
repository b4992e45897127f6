"""Does a problem's own code do what judging relies on? Tried alone, without a submission."""

import copy
import traceback
from typing import Any

from kernelbot.harness.inside.cage.checking import expected_output
from kernelbot.harness.inside.cage.loader import (
    FOLDER_PREFIX,
    ProblemBroken,
    ProblemFunctions,
    loaded,
)
from kernelbot.harness.judge.problem.predictable import content_of, predictable, recurring_of_script
from kernelbot.harness.judge.problem.troubles import ProblemTrouble
from kernelbot.protocol import Case, HarnessKind, ProblemSpec


def try_problem(spec: ProblemSpec) -> tuple[ProblemTrouble, ...]:
    """Make the data of every case twice, and ask the checker about the reference's own answer; then
    look at the data of many timed calls, and where answers come from.

    Returns the first trouble, or all notes. Of problems with a script of their own only the data
    are looked at. Those of several ranks aren't tried: their code needs all ranks. The problem's
    modules stay imported.
    """
    if spec.multi_gpu:
        return ()
    if spec.harness is not HarnessKind.NATIVE:
        return recurring_of_script(spec)
    try:
        with loaded(spec) as problem:
            for what, cases in (("tests", spec.tests), ("benchmarks", spec.benchmarks)):
                for index, case in enumerate(cases):
                    if trouble := _try_case(problem, f"{what}[{index}] ({case.spec})", case):
                        return (trouble,)
            return predictable(problem, spec)
    except ProblemBroken as error:
        return (_trouble(str(error), error.__cause__),)


def _try_case(problem: ProblemFunctions, name: str, case: Case) -> ProblemTrouble | None:
    """Raises `ProblemBroken`."""
    first, second = (problem.make_input(dict(case.args), None) for _ in range(2))
    answer = expected_output(problem, first)
    if answer is not None and (trouble := _try_checker(problem, name, first, answer)):
        return trouble
    if content_of(problem, first) == content_of(problem, second):
        return None
    # Uninitialised memory, e.g. an output's, differs too: so the reference's answers are compared.
    if answer is not None and not problem.judge(copy.deepcopy(second), answer):
        return None
    return ProblemTrouble(
        f"generate_input returned different data for the same arguments, {name}. "
        "Seed every random generator that it uses from its `seed`."
    )


def _try_checker(
    problem: ProblemFunctions, name: str, data: Any, answer: Any
) -> ProblemTrouble | None:
    try:
        found = problem.check(copy.deepcopy(data), copy.deepcopy(answer))
        said = problem.judge(copy.deepcopy(data), copy.deepcopy(answer))
    except (Exception, SystemExit) as error:  # noqa: BLE001 (told with its place)
        text = f"{type(error).__name__}: {error}"
        return _trouble(
            f"check_implementation failed on ref_kernel's own output, {name}: {text}", error
        )
    if found is None:
        return ProblemTrouble(
            f"check_implementation returned None for ref_kernel's own output, {name}. "
            "It must return whether the output is right, and a message: `return True, ''`."
        )
    if said:
        return ProblemTrouble(
            f"check_implementation refuses ref_kernel's own output, {name}: {said}"
        )
    return None


def _trouble(message: str, error: BaseException | None) -> ProblemTrouble:
    """The trouble, with the lines of the problem's own files in the traceback."""
    if error is None:
        return ProblemTrouble(message)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if FOLDER_PREFIX in frame.filename
    ]
    lines = [
        f"{frame.filename.rpartition('/')[2]}, line {frame.lineno}, in {frame.name}"
        for frame in frames
    ]
    if isinstance(error, SyntaxError):
        lines.append(f"{(error.filename or '').rpartition('/')[2]}, line {error.lineno}")
    return ProblemTrouble(message, "\n".join(lines))
