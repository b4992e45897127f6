"""What a skeleton says of its leaves: those of its parts that have raw bytes.

Only for a skeleton that `encode` made here, or that `decode` has accepted.
"""

from collections.abc import Iterator
from typing import Any

from kernelbot.harness.data.elements import Elements, elements_of
from kernelbot.harness.data.encode import Json

_LEAVES = frozenset(("bytes", "tensor", "array", "scalar"))


def leaf_sizes(skeleton: Json) -> Iterator[tuple[int, int]]:
    """Offset and size in bytes of every leaf with raw bytes, in the order of `Encoded.leaves`."""
    return ((node["o"], node["n"]) for node in leaf_nodes(skeleton))


def leaf_elements(skeleton: Json) -> Iterator[Elements | None]:
    """Where the elements of every leaf lie, as `elements_of` reads it; as `leaf_sizes`."""
    return (elements_of(node) for node in leaf_nodes(skeleton))


def has_gaps(skeleton: Json) -> bool:
    """Whether an array is said to have had gaps, or to have been reversed; as `leaf_sizes`."""
    return any(node.get("gaps") is True for node in leaf_nodes(skeleton))


def host_leaf_sizes(skeleton: Json) -> Iterator[tuple[int, int]]:
    """What `leaf_sizes` gives, without those whose offsets are in an arena."""
    nodes = leaf_nodes(skeleton)
    return ((node["o"], node["n"]) for node in nodes if not is_on_gpu(node))


def device_leaf_sizes(skeleton: Json) -> Iterator[tuple[int, int]]:
    """For a skeleton made with `place`: offset in the arena, and size in bytes."""
    return ((node["o"], node["n"]) for node in leaf_nodes(skeleton) if is_on_gpu(node))


def is_on_gpu(node: dict[str, Any]) -> bool:
    """Whether a leaf is a tensor in a GPU's memory."""
    return node["t"] == "tensor" and str(node["dev"]).startswith("cuda")


def leaf_kinds(skeleton: Json) -> Iterator[str]:
    """Kind of every leaf that has raw bytes; as `leaf_sizes`."""
    return (node["t"] for node in leaf_nodes(skeleton))


def leaf_nodes(skeleton: Json) -> Iterator[dict[str, Any]]:
    """Every leaf that has raw bytes; as `leaf_sizes`."""
    if not isinstance(skeleton, dict):
        return
    if skeleton["t"] in _LEAVES:
        yield skeleton
    elif isinstance(items := skeleton["v"], list | tuple):
        keyed = skeleton["t"] in ("dict", "record", "object")
        for item in items:
            yield from leaf_nodes(item[1] if keyed else item)
