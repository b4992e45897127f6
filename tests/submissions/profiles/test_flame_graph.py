"""A flame graph has what can be seen, and says how much it hasn't."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.submissions.profiles.call_tree import tree_of
from kernelbot.submissions.profiles.flame_graph import (
    LEAST_SHARE,
    MOST_CELLS,
    MOST_NAMES,
    flame_graph,
)
from kernelbot.submissions.profiles.model import CallKind, CallSide, FlameGraph, OmittedCalls
from kernelbot.submissions.profiles.trace import Call


def graph_of(*calls: tuple[str, float, float]) -> FlameGraph:
    """Of calls by their names, beginnings and durations."""
    found = [Call(name, CallKind.OPERATOR, at, at + length) for name, at, length in calls]
    graph = flame_graph(CallSide.PROCESSOR, tree_of([found]))
    assert graph is not None
    return graph


def cells_of(graph: FlameGraph) -> list[tuple[str, int, float, float]]:
    return [(one.name, one.depth, one.left, one.share) for one in graph.cells]


def test_cells_are_below_their_callers_the_widest_to_the_left() -> None:
    graph = graph_of(("a", 0, 2), ("b", 2, 6), ("c", 3, 1), ("d", 4, 3))
    assert [
        ("b", 0, 0, 0.75),
        ("a", 0, 0.75, 0.25),
        ("d", 1, 0, 0.375),
        ("c", 1, 0.375, 0.125),
    ] == cells_of(graph)
    assert (2, 8) == (graph.rows, graph.total_us)


def test_what_cannot_be_seen_is_counted() -> None:
    small = [(f"s{number}", 1000 + number, 1) for number in range(5)]
    graph = graph_of(("a", 0, 995), ("in", 1, 0.5), *small)
    assert ["a"] == [one.name for one in graph.cells]
    assert pytest.approx((6, 0.0055)) == (graph.not_drawn.count, graph.not_drawn.share)
    assert LEAST_SHARE == graph.least_share


def test_what_is_inside_of_what_is_not_drawn_counts_once() -> None:
    graph = graph_of(("a", 0, 999), ("b", 999, 1), ("c", 999, 1))
    assert pytest.approx((2, 0.001)) == (graph.not_drawn.count, graph.not_drawn.share)


def test_no_graph_has_more_cells_than_can_be_told_apart() -> None:
    calls = [
        (f"f{number}", 10 * number + deep, 10 - 2 * deep)
        for number in range(200)
        for deep in range(5)
    ]
    graph = graph_of(*calls)
    assert MOST_CELLS == len(graph.cells)
    assert 1000 - MOST_CELLS == graph.not_drawn.count


def test_names_are_listed_by_their_own_time() -> None:
    graph = graph_of(("a", 0, 10), ("b", 1, 7), ("c", 2, 1), ("c", 20, 2))
    shown = [(one.name, one.calls, one.total_us, one.self_us, one.share) for one in graph.names]
    assert [("b", 1, 7, 6, 0.5), ("a", 1, 10, 3, 0.25), ("c", 2, 3, 3, 0.25)] == shown
    assert OmittedCalls(0, 0) == graph.not_listed


def test_the_time_of_what_calls_itself_counts_once() -> None:
    graph = graph_of(("f", 0, 10), ("f", 2, 6), ("f", 3, 1))
    assert [("f", 3, 10, 10)] == [
        (one.name, one.calls, one.total_us, one.self_us) for one in graph.names
    ]


def test_of_many_names_the_others_are_counted() -> None:
    graph = graph_of(*((f"f{number:03}", number, 1) for number in range(100)))
    assert MOST_NAMES == len(graph.names)
    left_out = 100 - MOST_NAMES
    assert pytest.approx((left_out, left_out / 100)) == (
        graph.not_listed.count,
        graph.not_listed.share,
    )


def test_names_with_next_to_no_time_of_their_own_are_not_listed() -> None:
    graph = graph_of(("a", 0, 9_995), ("b", 1, 9_990), ("c", 9_996, 2), ("d", 9_999, 1))
    assert (["b"], 3) == ([one.name for one in graph.names], graph.not_listed.count)


def test_calls_that_took_no_time_are_no_graph() -> None:
    root = tree_of([[Call("a", CallKind.OPERATOR, 5, 5)]])
    assert flame_graph(CallSide.GPU, root) is None


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 90), st.integers(1, 30)), min_size=1)
)
def test_cells_of_a_row_do_not_overlap_and_lie_below_a_caller(
    calls: list[tuple[str, float, float]],
) -> None:
    graph = graph_of(*calls)
    for cell in graph.cells:
        ends = cell.left + cell.share
        row = [one for one in graph.cells if one.depth == cell.depth and one is not cell]
        assert all(
            one.left >= ends - 1e-9 or one.left + one.share <= cell.left + 1e-9 for one in row
        )
        above = [one for one in graph.cells if one.depth == cell.depth - 1]
        assert cell.depth == 0 or any(
            one.left <= cell.left + 1e-9 and ends <= one.left + one.share + 1e-9 for one in above
        )
    outermost = sum(one.share for one in graph.cells if one.depth == 0)
    assert 1 - graph.not_drawn.share - 1e-9 <= outermost <= 1 + 1e-9
