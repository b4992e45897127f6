import dataclasses
import json
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kernelbot.protocol import RunResult, from_wire, to_wire
from kernelbot.store.results import read_result
from tests.support.exhaustive import examples


def finite(value: Any) -> Any:
    """The same without infinities, which have no place in a message."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: finite(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **fields)
    if isinstance(value, tuple):
        return tuple(map(finite, value))
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return 0.5 if isinstance(value, float) and not math.isfinite(value) else value


@settings(max_examples=examples(30))
@given(st.from_type(RunResult).map(finite))
def test_a_stored_result_is_what_the_protocol_reads(result: RunResult) -> None:
    wire = json.dumps(to_wire(result))
    assert from_wire(RunResult, json.loads(wire)) == read_result(wire)


@given(st.integers(0, 2**53))
def test_a_whole_number_is_a_float_where_one_belongs(number: int) -> None:
    # jsonb writes 1.0 as it came, and others may write 1.
    text = json.dumps({"version": 1, **_smallest(), "duration_s": number})
    assert repr(float(number)) == repr(read_result(text).duration_s)


def _smallest() -> dict[str, object]:
    return {
        "job_id": "1",
        "problem": "sort",
        "mode": "test",
        "harness": "native",
        "verdict": "accepted",
        "system": {"device": "CPU", "cpu": "", "os": "", "python": "", "torch": None},
        "sandbox": {"mode": "none", "in_force": [], "missing": []},
    }
