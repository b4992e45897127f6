"""Stored results, read back."""

from functools import cache

from pydantic import TypeAdapter

from kernelbot.protocol import RunResult


def read_result(text: str) -> RunResult:
    """What `to_wire` made of a result, from its JSON.

    The protocol's own reader names everything that is wrong with what strangers send, in pure
    Python. A stored result has been through it, and is read with each submission that is shown.
    """
    return _adapter().validate_json(text)


@cache
def _adapter() -> TypeAdapter[RunResult]:
    return TypeAdapter(RunResult)
