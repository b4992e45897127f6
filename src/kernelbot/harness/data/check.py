"""Checks a skeleton without building its value: for a judge that only hands the bytes on."""

from typing import Any

from kernelbot.harness.data.decode import InvalidValue, Reader, end_of, known_device
from kernelbot.harness.data.device_view import View
from kernelbot.harness.data.dtypes import ITEM_BYTES, NUMPY_DTYPES, TORCH_DTYPES
from kernelbot.harness.data.encode import Json
from kernelbot.harness.data.leaves import is_on_gpu


def check(skeleton: Json, host_bytes: int, device_bytes: int, modules: frozenset[str]) -> int:
    """Check what `decode` would check, and build nothing; returns how many arrays there are.

    `host_bytes`, `device_bytes`: how much there is for the arrays on either side.
    Raises `InvalidValue`, and nothing else.
    """
    checker = _Checker(host_bytes, View(0, device_bytes), modules)
    checker.value(skeleton)
    return len(checker.arrays)


class _Checker(Reader):
    """Checks as a reader does; arrays are None."""

    def __init__(self, host_bytes: int, arena: View, modules: frozenset[str]) -> None:
        super().__init__(lambda _to, _at, _size: None, host_bytes, modules, detached=True)
        self.arena = arena
        self.kinds["scalar"] = lambda node, _depth: self._array(node)

    def _bytes(self, node: dict[str, Any], _depth: int) -> bytes:
        self.stretch(node)
        return b""

    def _tensor(self, node: dict[str, Any]) -> None:
        if node["d"] not in TORCH_DTYPES:
            raise InvalidValue("a tensor of an unknown dtype")
        known_device(node["dev"])
        if self.arena is not None and is_on_gpu(node):
            self.end_in_arena = end_of(node, self.end_in_arena, self.arena.size_bytes)
        else:
            self.stretch(node)
        self._check_layout(node)

    def _array(self, node: dict[str, Any]) -> None:
        if node["d"] not in NUMPY_DTYPES:
            raise InvalidValue("an array of an unknown dtype")
        self.stretch(node)
        self._check_layout(node)

    def _check_layout(self, node: dict[str, Any]) -> None:
        self.layout(node, ITEM_BYTES.get(node["d"], 1))
        self.arrays.append(None)
