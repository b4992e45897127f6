"""Checks a skeleton without building its value: for a judge, which only hands the bytes on."""

from collections.abc import Sequence
from typing import Any

from kernelbot.harness.data.decode import InvalidValue, Reader, end_of, known_device
from kernelbot.harness.data.device_view import View
from kernelbot.harness.data.dtypes import ITEM_BYTES, NUMPY_DTYPES, TORCH_DTYPES, used_strides
from kernelbot.harness.data.encode import Json, hex_pair
from kernelbot.harness.data.leaves import is_on_gpu


def check(skeleton: Json, host_bytes: int, device_bytes: int, modules: frozenset[str]) -> int:
    """Check what `decode` would check, and build nothing; returns how many arrays there are.

    `host_bytes`, `device_bytes`: how much there is for the arrays on either side.
    Raises `InvalidValue`, and nothing else.
    """
    checker = Checker(host_bytes, modules, View(0, device_bytes))
    checker.value(skeleton)
    return len(checker.arrays)


class Checker(Reader):
    """Checks as a reader does. Its value is another skeleton of what was read, in which nothing is
    of the sender's but what was checked."""

    def __init__(self, host_bytes: int, modules: frozenset[str], arena: View | None = None) -> None:
        super().__init__(lambda _to, _at, _size: None, host_bytes, modules)
        self.arena = arena
        whole, number, pair, text = (
            self.kinds[kind] for kind in ("int", "float", "complex", "str")
        )
        self.kinds |= {
            "int": lambda node, depth: {"t": "int", "v": hex(whole(node, depth))},
            "float": lambda node, depth: {"t": "float", "v": number(node, depth).hex()},
            "complex": lambda node, depth: {"t": "complex", "v": hex_pair(pair(node, depth))},
            "str": lambda node, depth: {"t": "str", "v": text(node, depth)},
            "bytes": self._leaf,
            "tuple": self._sequence,
            "list": self._sequence,
            "dict": self._described_dict,
            "record": self._described_record,
            "tensor": self._described_tensor,
            "array": self._described_array,
            "scalar": self._described_array,
        }

    def place(self, offset: int, size_bytes: int) -> int:
        """Where a leaf will lie whose bytes are there; for who copies them."""
        del size_bytes
        return offset

    def _leaf(self, node: dict[str, Any], _depth: int) -> Json:
        offset, size = self.stretch(node)
        return {"t": node["t"], "o": self.place(offset, size), "n": size}

    def _sequence(self, node: dict[str, Any], depth: int) -> Json:
        return {"t": node["t"], "v": self._items(node, depth)}

    def _described_dict(self, node: dict[str, Any], depth: int) -> Json:
        return {"t": "dict", "v": [list(pair) for pair in self._dict(node, depth).items()]}

    def _described_record(self, node: dict[str, Any], depth: int) -> Json:
        fields = [list(pair) for pair in self._fields(node, depth).items()]
        return {"t": "record", "m": node["m"], "c": node["c"], "v": fields}

    def _described_tensor(self, node: dict[str, Any], depth: int) -> Json:
        if node["d"] not in TORCH_DTYPES:
            raise InvalidValue("a tensor of an unknown dtype")
        device = known_device(node["dev"])
        if self.arena is not None and is_on_gpu(node):
            self.end_in_arena = end_of(node, self.end_in_arena, self.arena.size_bytes)
            leaf = {"t": "tensor", "o": node["o"], "n": node["n"]}
        else:
            leaf = self._leaf(node, depth)
        device = device if self.device is None else self.device
        return {**leaf, **self._layout_of(node), "dev": device, "g": False, "p": False}

    def _described_array(self, node: dict[str, Any], depth: int) -> Json:
        if node["d"] not in NUMPY_DTYPES:
            raise InvalidValue("an array of an unknown dtype")
        described = {**self._leaf(node, depth), **self._layout_of(node)}
        if described["s"]:  # a scalar has no axes
            described["t"] = "array"
        return described

    def _layout_of(self, node: dict[str, Any]) -> dict[str, Any]:
        self.arrays.append(None)
        shape: Sequence[int]
        shape, strides = self.layout(node, ITEM_BYTES.get(node["d"], 1))
        return {"d": node["d"], "s": shape, "k": used_strides(shape, strides)}
