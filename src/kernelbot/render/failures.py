"""Cases that failed, those that failed in the same way together."""

import re
from collections.abc import Iterable

from kernelbot.protocol import NOT_RUN, CaseResult, Verdict
from kernelbot.protocol.late import dataclass

_WHY_NOT_RUN = NOT_RUN.partition(": ")[2]
_COMPARED = 500
"""Characters of each end of a message by which two of them are compared."""


@dataclass(frozen=True)
class Alike:
    """Cases that failed in the same way: the first one, and the others."""

    first: CaseResult
    others: tuple[CaseResult, ...]

    @property
    def sentence(self) -> str:
        """How many cases weren't run, and why; empty if these have failed."""
        if self.first.message != NOT_RUN:
            return ""
        count = 1 + len(self.others)
        return f"{count} more {'was' if count == 1 else 'were'} not run: {_WHY_NOT_RUN}"


def failed_alike(cases: Iterable[CaseResult]) -> list[Alike]:
    """An entry for each way of failing, in the order of the first cases; those that weren't run
    are the last. Two cases failed in the
    same way if verdicts and messages are equal but for the numbers and their signs: sizes
    differ."""
    ways: dict[tuple[Verdict, str], list[CaseResult]] = {}
    for case in cases:
        if case.verdict is not Verdict.ACCEPTED:
            ways.setdefault((case.verdict, without_numbers(case.message)), []).append(case)
    found = [Alike(first, tuple(others)) for first, *others in ways.values()]
    return sorted(found, key=lambda way: bool(way.sentence))


def without_numbers(message: str) -> str:
    """What the messages of two cases have in common that failed in the same way. Of a long message
    that is its beginning and its end: an author can fill each case's with numbers."""
    if len(message) > 2 * _COMPARED:
        message = message[:_COMPARED] + message[-_COMPARED:]
    return re.sub(r"(?:(?<![\w.)\]])-)?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?", "0", message)
