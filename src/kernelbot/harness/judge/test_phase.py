"""The test phase: is the kernel right on every case?"""

import random
import time
from collections.abc import Callable
from typing import Any

from kernelbot.harness.judge.calls.callers import InputsAfterCall
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.judge.problem.examiner import Examiner
from kernelbot.harness.words.failures import AuthorFailure, with_limit
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.seeds import case_arguments
from kernelbot.harness.words.windows import Reply
from kernelbot.protocol import (
    NOT_RUN,
    Case,
    CaseResult,
    EventKind,
    JobSpec,
    Phase,
    ProgressEvent,
    Verdict,
)
from kernelbot.protocol.phases import limit_s, world_size

Spend = Callable[[str, float], None]


def run_tests(
    plan: Plan,
    examiner: Examiner,
    session: Session,
    emit: Callable[[ProgressEvent], None],
    spend: Spend,
    excuse: Callable[[AuthorFailure], None],
) -> tuple[CaseResult, ...]:
    """Every case's outcome in the file's order; run in that order where the run is public.
    `excuse` raises if a failure is nobody's fault.

    Raises `ProblemBroken`, and an `AuthorFailure` that is disputable; whatever else the author's
    code does becomes a verdict.
    """
    job = plan.job
    order = list(range(len(job.problem.tests)))
    if job.secret:
        random.SystemRandom().shuffle(order)
    # Cases of as many ranks share those.
    order.sort(key=lambda index: world_size(job.problem.tests[index]))
    results: dict[int, CaseResult] = {}
    for index in order:
        case = job.problem.tests[index]
        try:
            _run_case(plan, examiner, session, case, spend)
            results[index] = CaseResult(case.spec, Verdict.ACCEPTED, "")
        except AuthorFailure as error:
            error = with_limit(error, Phase.TEST, limit_s(job, Phase.TEST), session.deadline)
            if error.disputable:
                raise error from None
            excuse(error)
            results[index] = CaseResult(case.spec, error.verdict, error.message)
            if error.fatal:
                _announce(job, emit, index, results[index])
                _give_up(job, results, error)
                break
        _announce(job, emit, index, results[index])
    return tuple(results[index] for index in sorted(results))


def _give_up(job: JobSpec, results: dict[int, CaseResult], error: AuthorFailure) -> None:
    for index, case in enumerate(job.problem.tests):
        if index not in results:
            results[index] = CaseResult(case.spec, error.verdict, NOT_RUN)


def _announce(
    job: JobSpec, emit: Callable[[ProgressEvent], None], index: int, result: CaseResult
) -> None:
    emit(
        ProgressEvent(
            EventKind.CASE,
            phase=Phase.TEST,
            index=index,
            total=len(job.problem.tests),
            spec=None if job.secret else result.spec,
            verdict=result.verdict,
            message=None if job.secret else result.message,
        )
    )


def _run_case(plan: Plan, examiner: Examiner, session: Session, case: Case, spend: Spend) -> None:
    start = time.monotonic()
    # Worked out before the call, so that no more is read than a right output has.
    question = examiner.ask(case_arguments(case, plan.secret_seed), None, works_out=True)
    asked_s = time.monotonic() - start
    reply = session.call(
        question.given, question.max_output_bytes(), inputs=plan.job.problem.inputs_unchanged
    )
    called = time.monotonic()
    spend("generate", asked_s - question.worked_out_s)
    spend("check", question.worked_out_s)
    spend("kernel", reply.window.claim_ns / 1e9)
    refuse_side_effects(plan, session, question.given, reply)
    wrong = question.complaint(reply.value)
    spend("check", time.monotonic() - called)
    if wrong:
        raise wrong_answer(wrong)


def refuse_side_effects(plan: Plan, session: InputsAfterCall, given: Any, reply: Reply) -> None:
    """What `fresh_output`, `inputs_unchanged` and `contiguous` promise; and a compiled kernel's
    output is in the memory that it was given for that. Raises `AuthorFailure`."""
    problem = plan.job.problem
    if plan.outputs is not None and reply.aliased:
        raise AuthorFailure(
            Verdict.RULE_VIOLATION,
            "An input was named as the output. Write the result into the output that custom_kernel "
            "is given, and leave the harness's part of its process alone.",
        )
    if problem.fresh_output and reply.aliased:
        raise wrong_answer(
            "The output shares memory with the inputs; this problem forbids that. Return memory of "
            "your own."
        )
    if problem.contiguous and reply.gaps:
        raise wrong_answer(
            "The output has gaps between its elements or is reversed, and this problem asks for "
            "contiguous arrays. Return a contiguous copy."
        )
    if problem.inputs_unchanged and session.inputs_changed(given):
        raise wrong_answer(
            "The inputs were changed; this problem forbids that. Copy what you need to change."
        )


def wrong_answer(message: str) -> AuthorFailure:
    """A wrong output; the runner can go on with the next case."""
    error = AuthorFailure(Verdict.WRONG_ANSWER, message)
    error.fatal = False
    return error
