"""Skeleton and raw bytes back to plain data. Every field is checked: the sender may be hostile."""

import ctypes
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from kernelbot.harness.data.device_view import View, device_bytes
from kernelbot.harness.data.dtypes import (
    MAX_DIMENSIONS,
    MAX_ITEMS,
    NUMPY_DTYPES,
    TORCH_DTYPES,
    contiguous_strides,
    element_count,
    is_dense,
)
from kernelbot.harness.data.encode import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_NODES,
    MAX_TEXT,
    Json,
    record_fields,
)
from kernelbot.harness.data.leaves import is_on_gpu
from kernelbot.harness.data.objects import rebuild
from kernelbot.harness.data.shared_memory import SharedBuffer

ReadStretch = Callable[[int, int, int], object]
"""Copies to an address, from an offset, a number of bytes."""
_WHOLE = re.compile(r"-?0x[0-9a-f]+")
_DEVICE = re.compile(r"cpu|cuda(:[0-9]{1,2})?")


class InvalidValue(ValueError):
    """A skeleton that doesn't describe plain data within the limits."""


def decode(
    skeleton: Json,
    buffer: SharedBuffer,
    modules: frozenset[str],
    *,
    base: int = 0,
    recycled: Sequence[object] = (),
    device: str | None = None,
    in_place: bool = False,
    arena: View | None = None,
    of_input: bool = False,
) -> tuple[Any, list[object]]:
    """Build the value; returns it and its arrays in order.

    `recycled`: arrays of an earlier value, filled again in place where type, dtype and layout are
    the same. `device`: where tensors are put; None: where the skeleton says.
    `in_place`: arrays use the buffer's own memory and show what is written there later; for arrays
    on the CPU only.
    `arena`: where the tensors of a GPU lie, if they were encoded with `place`; they use its memory.
    `of_input`: as of `encode`, for who trusts the sender.
    Raises `InvalidValue`, and MemoryError.
    """

    def read(target: int, offset: int, size_bytes: int) -> None:
        ctypes.memmove(target, buffer.address + base + offset, size_bytes)

    reader = Reader(read, buffer.size_bytes - base, modules)
    reader.device = device
    reader.recycled = recycled
    reader.lies_in = (buffer, base) if in_place else None
    reader.arena = arena
    if of_input:
        reader.kinds.update(dtype=reader.dtype, object=reader.object)
    return reader.value(skeleton), reader.arrays


class Reader:
    """Reads leaves in the order in which their sender placed them, so that none overlap."""

    def __init__(self, read: ReadStretch, size_bytes: int, modules: frozenset[str]) -> None:
        self.modules = modules
        self.device: str | None = None
        self.recycled: Sequence[object] = ()
        self.lies_in: tuple[SharedBuffer, int] | None = None
        self.arena: View | None = None
        self.end_in_arena = 0
        self.arrays: list[object] = []
        self._read = read
        self._size_bytes = size_bytes
        self._end = 0
        self._nodes = 0
        self.kinds: dict[str, Callable[[dict[str, Any], int], Any]] = {
            "int": lambda node, _depth: _whole(_text(node["v"], MAX_DIGITS)),
            "float": lambda node, _depth: float.fromhex(_text(node["v"], 100)),
            "complex": self._complex,
            "str": lambda node, _depth: _text(node["v"], MAX_TEXT),
            "bytes": self._bytes,
            "tuple": lambda node, depth: tuple(self._items(node, depth)),
            "list": self._items,
            "dict": self._dict,
            "record": self._record,
            "tensor": lambda node, _depth: self._tensor(node),
            "array": lambda node, _depth: self._array(node),
            "scalar": lambda node, _depth: self._array(node)[()],
        }

    def value(self, skeleton: Json) -> Any:
        """The whole value, once. Raises `InvalidValue`, OSError of the memory it is read from, and
        MemoryError if this process has too little."""
        try:
            return self.node(skeleton, 0)
        except (InvalidValue, OSError, MemoryError):
            raise
        except Exception as error:
            if is_out_of_memory(error):
                raise MemoryError(str(error)) from error
            raise InvalidValue(f"a malformed value: {error}") from error
        finally:
            self.kinds = {}  # they refer to this reader, and would keep its arrays until collected

    def node(self, node: Json, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES or depth > MAX_DEPTH:
            raise InvalidValue("too many parts or nested too deeply")
        if node is None or isinstance(node, bool):
            return node
        if not isinstance(node, dict) or not isinstance(node.get("t"), str):
            raise InvalidValue("a node of no known kind")
        kind = self.kinds.get(node["t"])
        if kind is None:
            raise InvalidValue("a node of no known kind")
        try:
            return kind(node, depth)
        except ValueError as error:
            raise InvalidValue(str(error)) from error

    def _complex(self, node: dict[str, Any], _depth: int) -> complex:
        real, imaginary = _list(node["v"])
        return complex(float.fromhex(_text(real, 100)), float.fromhex(_text(imaginary, 100)))

    def _items(self, node: dict[str, Any], depth: int) -> list[Any]:
        return [self.node(item, depth + 1) for item in _list(node["v"])]

    def _pairs(self, node: dict[str, Any]) -> list[tuple[Any, Json]]:
        pairs = [tuple(_list(pair)) for pair in _list(node["v"])]
        if any(len(pair) != 2 or type(pair[0]) not in (str, int) for pair in pairs):
            raise InvalidValue("a malformed pair")
        if len({key for key, _ in pairs}) < len(pairs):
            raise InvalidValue("two values of one name")
        return [(key, item) for key, item in pairs]

    def _dict(self, node: dict[str, Any], depth: int) -> dict[Any, Any]:
        return {key: self.node(item, depth + 1) for key, item in self._pairs(node)}

    def _record(self, node: dict[str, Any], depth: int) -> Any:
        named = self._fields(node, depth)
        kind = self._record_type(node["m"], node["c"])
        if issubclass(kind, tuple):
            return tuple.__new__(kind, list(named.values()))
        made = object.__new__(kind)
        for name, value in named.items():
            object.__setattr__(made, name, value)
        return made

    def _fields(self, node: dict[str, Any], depth: int) -> dict[Any, Any]:
        """The fields of a record: those of its type, in their order."""
        kind = self._record_type(_text(node["m"], 200), _text(node["c"], 200))
        named = self._dict(node, depth)
        names = record_fields(kind)
        if names is None or tuple(named) != names:
            raise InvalidValue("fields that the type doesn't have")
        return named

    def dtype(self, node: dict[str, Any], _depth: int) -> Any:
        """A dtype of torch's itself."""
        if node["v"] not in TORCH_DTYPES:
            raise InvalidValue("an unknown dtype")
        return getattr(sys.modules.get("torch"), node["v"])

    def object(self, node: dict[str, Any], depth: int) -> Any:
        """An object of a class of the problem's."""
        kind = self._record_type(_text(node["m"], 200), _text(node["c"], 200))
        named = {str(name): self.node(item, depth + 1) for name, item in self._pairs(node)}
        return rebuild(kind, named, node["b"], sys.modules.get("torch"))

    def _record_type(self, module: str, name: str) -> type:
        found: Any = sys.modules.get(module) if module in self.modules else None
        for part in name.split("."):
            found = vars(found).get(part) if found is not None else None
        if not isinstance(found, type):
            raise InvalidValue(f"an unknown type {module}.{name}")
        return found

    def _bytes(self, node: dict[str, Any], _depth: int) -> bytes:
        offset, size = self.stretch(node)
        holder = ctypes.create_string_buffer(size)
        self._read(ctypes.addressof(holder), offset, size)
        return holder.raw

    def stretch(self, node: dict[str, Any]) -> tuple[int, int]:
        self._end = end_of(node, self._end, self._size_bytes)
        return node["o"], node["n"]

    def layout(self, node: dict[str, Any], item_bytes: int) -> tuple[list[int], list[int]]:
        shape, strides = _list(node["s"]), _list(node["k"])
        if len(shape) > MAX_DIMENSIONS or len(strides) != len(shape):
            raise InvalidValue("a malformed shape")
        if any(type(size) is not int or not 0 <= size < MAX_ITEMS for size in [*shape, *strides]):
            raise InvalidValue("a malformed shape")
        if element_count(shape) * item_bytes != node["n"]:
            raise InvalidValue("a shape that doesn't match its bytes")
        if not is_dense(shape, strides):
            strides = list(contiguous_strides(shape))
        return shape, strides

    def _tensor(self, node: dict[str, Any]) -> Any:
        torch: Any = sys.modules.get("torch")
        if torch is None or node["d"] not in TORCH_DTYPES:
            raise InvalidValue("a tensor of an unknown dtype")
        dtype = getattr(torch, node["d"])
        if self.arena is not None and is_on_gpu(node):
            return self._tensor_in(self.arena, torch, node, dtype)
        offset, size = self.stretch(node)
        shape, strides = self.layout(node, dtype.itemsize)
        device = known_device(node["dev"]) if self.device is None else self.device
        if self.lies_in is not None and size:
            buffer, base = self.lies_in
            start = base + offset
            flat = torch.frombuffer(buffer.view, dtype=torch.uint8, count=size, offset=start)
            tensor = flat.view(dtype).as_strided(shape, strides)
        else:
            tensor = self._copied_tensor(torch, (shape, strides), dtype, device, (offset, size))
        return self._finished(torch, tensor, node)

    def _tensor_in(self, arena: View, torch: Any, node: dict[str, Any], dtype: Any) -> Any:
        self.end_in_arena = end_of(node, self.end_in_arena, arena.size_bytes)
        shape, strides = self.layout(node, dtype.itemsize)
        device = known_device(node["dev"])
        if node["n"]:
            view = View(arena.address + node["o"], node["n"], arena.owner)
            flat = device_bytes(torch, view, device)
            tensor = flat.view(dtype).as_strided(shape, strides)
        else:
            tensor = torch.empty_strided(shape, strides, dtype=dtype, device=device)
        return self._finished(torch, tensor, node)

    def _finished(self, torch: Any, tensor: Any, node: dict[str, Any]) -> Any:
        if node["p"] is True:
            tensor = torch.nn.Parameter(tensor, requires_grad=bool(node["g"]))
        elif node["g"] is True:
            tensor.requires_grad_(True)
        self.arrays.append(tensor)
        return tensor

    def _copied_tensor(
        self,
        torch: Any,
        layout: tuple[list[int], list[int]],
        dtype: Any,
        device: str,
        stretch: tuple[int, int],
    ) -> Any:
        tensor = self._recycled_tensor(torch, *layout, dtype, device)
        if tensor is None:
            tensor = torch.empty_strided(*layout, dtype=dtype)
        if tensor.device.type == "cpu":
            self._read(tensor.data_ptr(), *stretch)
        return self._on_device(torch, tensor, stretch, device)

    def _on_device(self, torch: Any, tensor: Any, stretch: tuple[int, int], device: str) -> Any:
        if device == "cpu":
            return tensor
        if tensor.device.type == "cpu":
            return tensor.to(device)
        staged = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
        self._read(staged.data_ptr(), *stretch)
        tensor.detach().copy_(staged)
        return tensor

    def _recycled_tensor(
        self, torch: Any, shape: list[int], strides: list[int], dtype: Any, device: str
    ) -> Any:
        index = len(self.arrays)
        old: Any = self.recycled[index] if index < len(self.recycled) else None
        if type(old) is not torch.Tensor or old.dtype != dtype or str(old.device) != device:
            return None
        fits = list(old.shape) == shape and list(old.stride()) == strides
        return old.detach() if fits and not old.requires_grad else None

    def _array(self, node: dict[str, Any]) -> Any:
        numpy: Any = sys.modules.get("numpy")
        if numpy is None or node["d"] not in NUMPY_DTYPES:
            raise InvalidValue("an array of an unknown dtype")
        dtype = numpy.dtype(node["d"])
        offset, size = self.stretch(node)
        shape, strides = self.layout(node, dtype.itemsize)
        steps = tuple(stride * dtype.itemsize for stride in strides)
        if self.lies_in is not None and node["t"] == "array":
            buffer, base = self.lies_in
            self.arrays.append(numpy.ndarray(shape, dtype, buffer.view, base + offset, steps))
            return self.arrays[-1]
        index = len(self.arrays)
        array: Any = self.recycled[index] if index < len(self.recycled) else None
        if not _fits(numpy, array, dtype, tuple(shape), steps):
            array = numpy.ndarray(shape, dtype, numpy.empty(max(size, 1), numpy.uint8), 0, steps)
        self._read(array.ctypes.data, offset, size)
        self.arrays.append(array)
        return array


def is_device_full(error: BaseException) -> bool:
    """Whether an error says that a GPU's memory is short."""
    return type(error).__name__ in ("OutOfMemoryError", "DeviceFull")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory is short: torch has its own words for it."""
    if isinstance(error, MemoryError) or is_device_full(error):
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)


def end_of(node: dict[str, Any], earliest: int, size_bytes: int) -> int:
    """Where a leaf's bytes end: they must not begin before `earliest`, nor end after
    `size_bytes`."""
    offset, size = node["o"], node["n"]
    if type(offset) is not int or type(size) is not int or offset < 0 or size < 0:
        raise InvalidValue("a malformed stretch of bytes")
    if offset + size > size_bytes:
        raise InvalidValue("bytes outside of the buffer")
    if offset < earliest:
        raise InvalidValue("bytes that belong to two values")
    return offset + size


def _fits(
    numpy: Any, array: Any, dtype: Any, shape: tuple[int, ...], steps: tuple[int, ...]
) -> bool:
    if type(array) is not numpy.ndarray or not array.flags.writeable:
        return False
    return bool(array.dtype == dtype and array.shape == shape and array.strides == steps)


def known_device(value: Json) -> str:
    """The device of a tensor: only the host's memory or a GPU's can be compared with a
    reference."""
    name = _text(value, 20)
    if _DEVICE.fullmatch(name) is None:
        raise InvalidValue("a tensor on no known device")
    return name


def _whole(text: str) -> int:
    if _WHOLE.fullmatch(text) is None:
        raise InvalidValue("a whole number expected")
    return int(text, 16)


def _text(value: Json, cap: int) -> str:
    if not isinstance(value, str) or len(value) > cap:
        raise InvalidValue("text expected")
    return value


def _list(value: Json) -> list[Any]:
    if isinstance(value, tuple):
        return list(value)
    if not isinstance(value, list):
        raise InvalidValue("a list expected")
    return value
