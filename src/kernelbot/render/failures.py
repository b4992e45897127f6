"""Cases that failed, those that failed in the same way together."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kernelbot.protocol import CaseResult, Verdict

_COMPARED = 500
"""Characters of each end of a message by which two of them are compared."""


@dataclass(frozen=True)
class Alike:
    """Cases that failed in the same way: the first one, and the others."""

    first: CaseResult
    others: tuple[CaseResult, ...]


def failed_alike(cases: Iterable[CaseResult]) -> list[Alike]:
    """An entry for each way of failing, in the order of the first cases. Two cases failed in the
    same way if verdicts and messages are equal but for the numbers: sizes differ."""
    ways: dict[tuple[Verdict, str], list[CaseResult]] = {}
    for case in cases:
        if case.verdict is not Verdict.ACCEPTED:
            ways.setdefault((case.verdict, without_numbers(case.message)), []).append(case)
    return [Alike(first, tuple(others)) for first, *others in ways.values()]


def without_numbers(message: str) -> str:
    """What the messages of two cases have in common that failed in the same way. Of a long message
    that is its beginning and its end: an author can fill each case's with numbers."""
    if len(message) > 2 * _COMPARED:
        message = message[:_COMPARED] + message[-_COMPARED:]
    return re.sub(r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?", "0", message)
