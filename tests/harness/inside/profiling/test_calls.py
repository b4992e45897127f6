import gzip
import json
import sys
from pathlib import Path

import pytest

from kernelbot.harness.inside.profiling.calls import CALLS, profile, repeat


def test_without_torch_it_is_pythons_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    text, trace = profile(sorted, ([3, 1, 2],))
    row = next(line for line in text.splitlines() if "builtins.sorted" in line)
    assert str(CALLS) == row.split()[0]
    events = json.loads(gzip.decompress(trace))["traceEvents"]
    assert ["builtins.sorted"] * CALLS == [event["name"] for event in events]


# Each run has test_ncu_sees_the_second_call_only_and_of_it_ten_kernels (test_watched.py)
@pytest.mark.exhaustive
@pytest.mark.torch
def test_with_torch_it_is_a_table_and_a_trace(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch", reason="torch isn't installed")
    monkeypatch.chdir(tmp_path)
    text, trace = profile(lambda data: data.cumsum(0), (torch.ones(64),))
    row = next(line for line in text.splitlines() if "aten::cumsum" in line)
    assert str(CALLS) == row.split()[-1]
    events = json.loads(gzip.decompress(trace))["traceEvents"]
    assert CALLS == sum(event.get("name") == "aten::cumsum" for event in events)


def test_calls_are_repeated_and_counted() -> None:
    calls: list[int] = []
    counted = repeat(calls.append, (1,))
    assert len(calls) == counted
    assert counted >= CALLS
