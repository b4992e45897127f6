"""Which call was made by which, from when they began and ended, with equal calls summed."""

from collections.abc import Iterable

from kernelbot.submissions.profiles.model import CallKind
from kernelbot.submissions.profiles.trace import Call

DEEPEST = 48
"""Calls inside so many others count as their caller's own time."""


class CallNode:
    """All calls of one name from the same callers."""

    __slots__ = ("calls", "children", "kind", "name", "total_us")

    def __init__(self, name: str, kind: CallKind) -> None:
        self.name = name
        self.kind = kind
        self.calls = 0
        self.total_us = 0.0
        self.children: dict[str, CallNode] = {}

    @property
    def self_us(self) -> float:
        """The time that isn't in calls that these made."""
        return max(0.0, self.total_us - sum(one.total_us for one in self.children.values()))

    def child(self, name: str, kind: CallKind) -> "CallNode":
        """The node of calls that these made; a new one at first."""
        found = self.children.get(name)
        if found is None:
            found = self.children[name] = CallNode(name, kind)
        return found


def tree_of(threads: Iterable[list[Call]]) -> CallNode:
    """The calls of all threads under one root, whose time is that of the outermost calls. A call
    that lasts longer than its caller ends with that: clocks are read one after another."""
    root = CallNode("", CallKind.OTHER)
    for calls in threads:
        _add(root, calls)
    root.total_us = sum(one.total_us for one in root.children.values())
    return root


def _add(root: CallNode, calls: list[Call]) -> None:
    open_calls: list[tuple[float, CallNode]] = [(float("inf"), root)]
    for call in sorted(calls, key=lambda one: (one.start_us, -one.end_us)):
        while call.start_us >= open_calls[-1][0]:
            open_calls.pop()
        if len(open_calls) > DEEPEST:
            continue
        end_us, caller = open_calls[-1]
        end_us = min(end_us, call.end_us)
        node = caller.child(call.name, call.kind)
        node.calls += 1
        node.total_us += end_us - call.start_us
        open_calls.append((end_us, node))
