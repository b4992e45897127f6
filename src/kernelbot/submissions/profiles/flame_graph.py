"""Cuts a tree of calls down to what can be seen."""

import heapq
from collections.abc import Iterator
from itertools import count

from kernelbot.submissions.profiles.call_tree import CallNode
from kernelbot.submissions.profiles.model import (
    CallKind,
    CallSide,
    FlameGraph,
    FlameRectangle,
    NameRow,
    OmittedCalls,
)

MOST_CELLS = 150
LEAST_SHARE = 0.004
"""The smallest share of the graph's width that is drawn: less is not seen."""
MOST_NAMES = 30
LEAST_OWN_SHARE = 0.001
"""The smallest share of the graph's time with which a name is listed; the first is in any case."""


def flame_graph(place: CallSide, root: CallNode) -> FlameGraph | None:
    """The widest cells of a tree, below their callers, the widest to the left. None: it took no
    time."""
    if not root.total_us:
        return None
    drawn, left_out = _cut(root)
    cells = tuple(sorted(drawn, key=lambda cell: (cell.depth, cell.left)))
    is_full = len(cells) == MOST_CELLS
    names = sorted(_by_name(root), key=lambda row: (-row.self_us, row.name))
    large = sum(row.share >= LEAST_OWN_SHARE for row in names)
    listed = max(1, min(large, MOST_NAMES))
    others = names[listed:]
    return FlameGraph(
        place=place,
        total_us=root.total_us,
        rows=1 + max(cell.depth for cell in cells),
        cells=cells,
        least_share=min(cell.share for cell in cells) if is_full else LEAST_SHARE,
        not_drawn=left_out,
        names=tuple(names[:listed]),
        not_listed=OmittedCalls(len(others), sum(one.share for one in others)),
    )


def _cut(root: CallNode) -> tuple[list[FlameRectangle], OmittedCalls]:
    """The widest cells, and what is left out: the calls of the others, and the share of those
    whose caller is drawn, so that no time counts twice."""
    order = count()  # so that equal shares aren't compared further
    waiting: list[tuple[float, int, CallNode, int, float]] = []

    def add_children(node: CallNode, depth: int, left: float) -> None:
        for child in sorted(node.children.values(), key=lambda one: (-one.total_us, one.name)):
            heapq.heappush(waiting, (-child.total_us, next(order), child, depth, left))
            left += child.total_us / root.total_us

    cells: list[FlameRectangle] = []
    calls, share = 0, 0.0
    add_children(root, 0, 0.0)
    while waiting:
        _, _, node, depth, left = heapq.heappop(waiting)
        width = node.total_us / root.total_us
        if cells and (width < LEAST_SHARE or len(cells) >= MOST_CELLS):
            calls += sum(one.calls for one in _all_of(node))
            share += width
            continue
        cells.append(
            FlameRectangle(
                node.name, node.kind, depth, left, width, node.calls, node.total_us, node.self_us
            )
        )
        add_children(node, depth + 1, left)
    return cells, OmittedCalls(calls, share)


def _all_of(node: CallNode) -> Iterator[CallNode]:
    found = [node]
    while found:
        one = found.pop()
        yield one
        found.extend(one.children.values())


def _by_name(root: CallNode) -> list[NameRow]:
    """A row for each name. The time of a call that was made by one of its own name is in that."""
    calls: dict[str, int] = {}
    total_us: dict[str, float] = {}
    self_us: dict[str, float] = {}
    kinds: dict[str, CallKind] = {}

    def add(node: CallNode, callers: frozenset[str]) -> None:
        for child in node.children.values():
            name = child.name
            kinds.setdefault(name, child.kind)
            calls[name] = calls.get(name, 0) + child.calls
            self_us[name] = self_us.get(name, 0.0) + child.self_us
            outer_us = 0.0 if name in callers else child.total_us
            total_us[name] = total_us.get(name, 0.0) + outer_us
            if child.children:
                add(child, callers | {name})

    add(root, frozenset())
    return [
        NameRow(name, kinds[name], calls[name], total_us[name], own_us, own_us / root.total_us)
        for name, own_us in self_us.items()
    ]
