"""What the program makes of a report and a trace."""

import sys

import pytest

from kernelbot.harness.inside.profiling.calls import profile
from kernelbot.submissions.profiles.model import CallKind, CallSide
from kernelbot.submissions.profiles.process import read_profile
from tests.support.traces import event, trace_of


def half(number: int) -> int:
    return sum(range(number // 2))


def kernel(number: int) -> int:
    return half(number) + half(number)


def test_a_profile_has_a_graph_for_each_place() -> None:
    events = [event("k", 0, 5, category="kernel"), event("aten::mm", 0, 9)]
    found = read_profile("== Framework's profiler ==\nx", trace_of(events))
    assert [CallSide.PROCESSOR, CallSide.GPU] == [graph.place for graph in found.graphs]
    assert ("", ["Framework's profiler"]) == (
        found.trace_note,
        [section.title for section in found.sections],
    )


def test_what_the_harness_writes_of_python_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    text, trace = profile(kernel, (100_000,))
    (graph,) = read_profile(text, trace).graphs
    assert "builtins.sum" == graph.names[0].name
    assert ["kernel", "half", "builtins.sum"] == [
        cell.name.split(" ")[0] for cell in graph.cells[:3]
    ]
    assert [5, 10, 10] == [cell.calls for cell in graph.cells[:3]]
    assert {CallKind.FUNCTION} == {cell.kind for cell in graph.cells}


@pytest.mark.exhaustive  # each run has test_what_the_harness_writes_of_python_is_read
@pytest.mark.torch
def test_what_pytorch_writes_is_read() -> None:
    torch = pytest.importorskip("torch", reason="torch isn't installed")
    with torch.profiler.profile() as taken:
        torch.nn.functional.linear(torch.ones(64, 64), torch.ones(64, 64), torch.ones(64))
    (graph,) = read_profile("", exported(taken)).graphs
    callers = {cell.name: cell.depth for cell in graph.cells}
    assert callers["aten::linear"] < callers["aten::addmm"]


def exported(taken: object) -> bytes:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        taken.export_chrome_trace(str(path))  # type: ignore[attr-defined]  # a profiler
        return path.read_bytes()


@pytest.mark.parametrize(
    ("trace", "note"),
    [
        (b"", ""),
        (b"\x1f\x8b", "The trace has no events."),
        (b"{}", "The trace has no events."),
        (trace_of([event("a", 1, 0)]), "The trace has no calls with a time."),
    ],
)
def test_without_a_graph_it_is_said_why(trace: bytes, note: str) -> None:
    found = read_profile("x", trace)
    assert ((), note, "x") == (found.graphs, found.trace_note, found.sections[0].text)


def test_of_half_a_trace_it_is_said_that_it_is_half() -> None:
    whole = trace_of([event("a", 1, 1)] * 100)
    found = read_profile("", whole[:-20])
    assert (1, True) == (len(found.graphs), "beginning of the trace" in found.trace_note)
