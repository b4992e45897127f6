"""What nodes leave, and what becomes of it."""

import json
from typing import Any

from kernelbot.launchers.base import Left, Outcome
from kernelbot.launchers.results import NoResult, read_result
from kernelbot.protocol import JobSpec, RunResult, to_wire

LONG_S = 3600.0
"""An attempt in which any samples of tests could be taken."""


def left_of(result: RunResult, **changes: Any) -> Left:
    """As a harness writes it; `changes`: of the document."""
    return Left(json.dumps({**to_wire(result), **changes}).encode())


def result_in(outcome: Outcome, job: JobSpec) -> RunResult:
    """What a job has ended with."""
    assert outcome.left is not None, outcome
    return read_result(outcome.left, job, LONG_S)


def why_none(outcome: Outcome, job: JobSpec) -> str:
    """Why a job that is over has no result: it has left none, or one that isn't believed."""
    if outcome.left is None:
        return outcome.reason
    try:
        return f"it has one: {read_result(outcome.left, job, LONG_S).verdict}"
    except NoResult as error:
        return str(error)
