"""Stored results, read back."""

from functools import cache

from pydantic import TypeAdapter

from kernelbot.protocol import RunResult


def read_result(text: str) -> RunResult:
    """A stored result, from the JSON that `to_wire` made.

    The protocol's own decoder reports every mistake in untrusted input, in pure Python. A stored
    result has passed it already, and is read for each submission that is shown: so this one is
    compiled.
    """
    return _adapter().validate_json(text)


@cache
def _adapter() -> TypeAdapter[RunResult]:
    return TypeAdapter(RunResult)
