"""Calls lie below those that made them, and equal ones are one."""

from hypothesis import given
from hypothesis import strategies as st

from kernelbot.submissions.profiles.call_tree import DEEPEST, CallNode, tree_of
from kernelbot.submissions.profiles.model import CallKind
from kernelbot.submissions.profiles.trace import Call

TIMES = st.integers(0, 50)


def call(name: str, start_us: float, end_us: float) -> Call:
    return Call(name, CallKind.OPERATOR, start_us, end_us)


def shape(node: CallNode) -> dict[str, object]:
    return {
        name: (one.calls, one.total_us, shape(one)) if one.children else (one.calls, one.total_us)
        for name, one in node.children.items()
    }


def test_calls_within_another_are_below_it() -> None:
    calls = [call("mm", 2, 5), call("linear", 0, 10), call("add", 6, 9), call("relu", 10, 12)]
    assert {"linear": (1, 10, {"mm": (1, 3), "add": (1, 3)}), "relu": (1, 2)} == shape(
        tree_of([calls])
    )


def test_equal_calls_of_equal_callers_are_summed_in_all_threads() -> None:
    calls = [call("a", 0, 4), call("b", 1, 2), call("a", 5, 8), call("b", 5, 7)]
    found = tree_of([calls, [call("a", 0, 1)]])
    assert {"a": (3, 8, {"b": (2, 3)})} == shape(found)
    assert (8, 5) == (found.total_us, found.children["a"].self_us)


def test_one_that_outlasts_its_caller_ends_with_it() -> None:
    assert {"a": (1, 10, {"b": (1, 4)})} == shape(tree_of([[call("a", 0, 10), call("b", 6, 11)]]))


def test_calls_very_deep_are_their_callers_time() -> None:
    calls = [call(f"f{depth}", depth, 1000 - depth) for depth in range(400)]
    node, depth = tree_of([calls]), 0
    while node.children:
        (node,) = node.children.values()
        depth += 1
    assert DEEPEST == depth
    assert node.total_us == node.self_us


def test_a_hundred_thousand_calls_inside_each_other_are_no_trouble() -> None:
    count = 100_000
    calls = [call("f", number, 2 * count - number) for number in range(count)]
    assert 2 * count == tree_of([calls]).total_us


@given(st.lists(st.tuples(st.sampled_from("abc"), TIMES, TIMES)))
def test_no_time_comes_from_nowhere(drawn: list[tuple[str, int, int]]) -> None:
    calls = [call(name, start, start + length) for name, start, length in drawn]
    root = tree_of([calls])
    covered = {at for one in calls for at in range(int(one.start_us), int(one.end_us))}
    assert len(covered) >= root.total_us
    waiting = list(root.children.values())
    for node in waiting:
        assert sum(one.total_us for one in node.children.values()) <= node.total_us
        waiting.extend(node.children.values())
