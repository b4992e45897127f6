"""Plain data as a JSON skeleton plus raw bytes, for the messages between judge and runner.

Leaves are torch tensors, numpy arrays and scalars, numbers, text, bytes and None; containers are
tuples, lists, dicts, and dataclasses and NamedTuples of the modules that both sides have; any other
NamedTuple is sent as a tuple. What a generator makes may also contain parameters, dtypes, and other
objects of those modules, which are their attributes. Nothing is ever unpickled or evaluated; other
values are refused with their type's name.
"""

import ctypes
import dataclasses
import sys
from collections.abc import Callable, Sequence
from typing import Any

from kernelbot.harness.data.dtypes import (
    NUMPY_DTYPES,
    TORCH_DTYPES,
    contiguous_strides,
    is_dense,
    used_strides,
)
from kernelbot.harness.data.elements import Elements, ReadingCost, can_be_read, lying_at
from kernelbot.harness.data.objects import attributes
from kernelbot.harness.data.shared_memory import SharedBuffer

Json = Any
ReadMemory = Callable[[int, int, int], object]
"""Copies to an address, from an address, a number of bytes."""
Place = Callable[[int, int], int]
"""Where in an arena an array of a GPU's will lie: its offset, by its address and size in bytes."""
Stays = Callable[[int, int], bool]
"""Whether an array whose elements lie between two addresses may be read where it lies."""
ALIGNMENT = 64
MAX_NODES = 100_000
MAX_DEPTH = 32
MAX_TEXT = 1 << 20
MAX_DIGITS = 3_500
"""Maximum of hexadecimal digits of a whole number."""
MAX_KEY_BITS = 4_096
"""A key is a number of JSON, which Python writes only up to some size."""


class UnsupportedValue(ValueError):
    """A value that is not plain data; the text names its type."""


@dataclasses.dataclass(frozen=True)
class Leaf:
    """The address of the raw bytes of one array, in its owner's memory."""

    address: int
    """If the node tells where its elements lie, they do so relative to it."""
    size_bytes: int
    offset: int
    owner: object
    """Keeps the memory alive."""
    on_gpu: bool = False
    """Whether the address is in the GPU's memory."""
    in_arena: bool = False
    """Whether the offset is one in an arena, and not among the host's bytes."""


@dataclasses.dataclass(frozen=True)
class Encoded:
    """A skeleton, and the bytes that belong to it."""

    skeleton: Json
    leaves: tuple[Leaf, ...]
    size_bytes: int
    copied: bool = False
    """Whether an array had to be copied into another layout to be described, or a tensor's numbers
    had yet to be negated or conjugated."""
    nodes: int = 1
    """How many parts the value has, including containers."""

    @property
    def parts(self) -> "tuple[Encoded, ...]":
        """The data of each rank, see `Shares`: there is one."""
        return (self,)

    def copy_to(
        self, buffer: SharedBuffer, base: int = 0, read_gpu: ReadMemory | None = None
    ) -> None:
        """Copy all raw bytes into the buffer, but those for an arena; `read_gpu` is needed for
        those left on a GPU.

        Raises ValueError if the buffer is too small.
        """
        if base + self.size_bytes > buffer.size_bytes:
            raise ValueError("the buffer is too small")
        for leaf in self.leaves:
            if leaf.in_arena:
                continue
            copy = read_gpu if leaf.on_gpu and read_gpu is not None else ctypes.memmove
            copy(buffer.address + base + leaf.offset, leaf.address, leaf.size_bytes)


def overlaps(value: Encoded, stretches: list[tuple[int, int]]) -> bool:
    """Whether an array of a value lies in one of the stretches of memory: their first addresses and
    those after the last."""
    return any(
        leaf.address < end and start < leaf.address + leaf.size_bytes
        for leaf in value.leaves
        for start, end in stretches
    )


def encode(
    tree: object,
    modules: frozenset[str],
    of_input: bool = False,
    stay_on_gpu: bool = False,
    place: Place | None = None,
    stays: Stays | None = None,
) -> Encoded:
    """Describe `tree`. `modules` are those whose dataclasses both sides know. `of_input`: it was
    made by a generator, so it may have more in it.

    `stay_on_gpu`: don't copy what is in a GPU's memory to the host; see `Leaf.on_gpu`.
    `place`: the same, and their offsets are those in an arena.
    `stays`: for who reads the arrays where they lie. Their addresses are then those that a mark has
    of them (`Marks`), and those that have gaps or are reversed are copied only if it says no, or if
    their elements share bytes.
    Raises `UnsupportedValue` for anything that is not plain data, subclasses included.
    """
    writer = _Writer(modules, of_input, stay_on_gpu or place is not None)
    writer.place_on_gpu, writer.stays = place, stays
    skeleton = writer.node(tree, 0)
    return Encoded(skeleton, tuple(writer.leaves), writer.size_bytes, writer.copied, writer.nodes)


class _Writer:
    def __init__(self, modules: frozenset[str], of_input: bool, stay_on_gpu: bool) -> None:
        self.modules = modules
        self.of_input = of_input
        self.stay_on_gpu = stay_on_gpu
        self.place_on_gpu: Place | None = None
        self.stays: Stays | None = None
        self.leaves: list[Leaf] = []
        self.size_bytes = 0
        self.copied = False
        self.nodes = 0
        self.reading = ReadingCost()
        self._torch: Any = sys.modules.get("torch")
        self._numpy: Any = sys.modules.get("numpy")

    def node(self, value: Any, depth: int) -> Json:
        self.nodes += 1
        if self.nodes > MAX_NODES or depth > MAX_DEPTH:
            raise UnsupportedValue("the value has too many parts or is nested too deeply")
        kind = type(value)
        plain = _PLAIN.get(kind)
        if plain is not None:
            return plain(self, value, depth)
        if self._torch is not None and self._is_tensor(kind):
            return self._tensor(value, kind)
        if self._numpy is not None:
            if kind is self._numpy.ndarray:
                return self._array(value, "array")
            if issubclass(kind, self._numpy.generic):
                known = str(value.dtype) in NUMPY_DTYPES
                array = scalar_bytes(value) if known else self._numpy.asarray(value)
                return self._array(array, "scalar")
        return self._record(value, kind, depth)

    def _is_tensor(self, kind: type) -> bool:
        if kind is self._torch.Tensor:
            return True
        return self.of_input and kind is self._torch.nn.Parameter

    def _int(self, value: int, _depth: int) -> Json:
        text = hex(value)
        if len(text) > MAX_DIGITS:
            raise UnsupportedValue("an int of more than 14,000 bits")
        return {"t": "int", "v": text}

    def _text(self, value: str, _depth: int) -> Json:
        if len(value) > MAX_TEXT:
            raise UnsupportedValue("a str of more than a million characters")
        return {"t": "str", "v": value}

    def _bytes(self, value: bytes, _depth: int) -> Json:
        holder = ctypes.create_string_buffer(value, len(value))
        offset = self._place(ctypes.addressof(holder), len(value), holder)
        return {"t": "bytes", "o": offset, "n": len(value)}

    def _sequence(self, value: Any, depth: int) -> Json:
        return {"t": type(value).__name__, "v": [self.node(item, depth + 1) for item in value]}

    def _dict(self, value: dict[Any, Any], depth: int) -> Json:
        if any(type(key) not in (str, int) for key in value):
            raise UnsupportedValue("a dict with keys that are neither str nor int")
        if any(type(key) is int and key.bit_length() > MAX_KEY_BITS for key in value):
            raise UnsupportedValue(f"a dict with an int of more than {MAX_KEY_BITS} bits as a key")
        return {"t": "dict", "v": [[key, self.node(v, depth + 1)] for key, v in value.items()]}

    def _record(self, value: Any, kind: type, depth: int) -> Json:
        if kind.__module__ in self.modules:
            names = record_fields(kind)
            if names is not None:
                fields = [[name, self.node(getattr(value, name), depth + 1)] for name in names]
                return {"t": "record", "m": kind.__module__, "c": kind.__qualname__, "v": fields}
        if issubclass(kind, tuple) and _is_named(kind):
            items = tuple.__iter__(value)
            return {"t": "tuple", "v": [self.node(item, depth + 1) for item in items]}
        if self.of_input:
            if self._torch is not None and kind is self._torch.dtype:
                return {"t": "dtype", "v": str(value).removeprefix("torch.")}
            if kind.__module__ in self.modules:
                return self._object(value, kind, depth)
        raise UnsupportedValue(f"a value of type {kind.__module__}.{kind.__qualname__}")

    def _object(self, value: Any, kind: type, depth: int) -> Json:
        found = attributes(value, self._torch)
        if found is None:
            raise UnsupportedValue(f"a {kind.__qualname__} that is more than its attributes")
        named, buffers = found
        fields = [[name, self.node(part, depth + 1)] for name, part in named.items()]
        name = kind.__qualname__
        return {"t": "object", "m": kind.__module__, "c": name, "v": fields, "b": buffers}

    def _tensor(self, value: Any, kind: type) -> Json:
        dtype = str(value.dtype).removeprefix("torch.")
        if dtype not in TORCH_DTYPES or value.layout is not self._torch.strided:
            raise UnsupportedValue(f"a tensor of dtype {dtype} and layout {value.layout}")
        device = str(value.device)
        if value.device.type not in ("cpu", "cuda"):
            raise UnsupportedValue(f"a tensor on the device {device}")
        # Methods can be overridden on an instance, but not on the fresh one that this makes.
        owner = self._torch.Tensor.detach(value)
        shape, strides = tuple(owner.shape), tuple(owner.stride())
        if owner.is_conj() or owner.is_neg():
            owner = owner.resolve_conj().resolve_neg()
            self.copied = True
        if owner.device.type != "cpu" and not self.stay_on_gpu:
            owner = owner.cpu()
        on_gpu, size = owner.device.type != "cpu", owner.numel() * owner.element_size()
        dense = not size or is_dense(shape, strides)
        owner, address, strides, told = self._tensor_bytes(owner, strides, dense=dense)
        return {
            "t": "tensor",
            "d": dtype,
            "s": shape,
            "k": used_strides(shape, strides),
            "o": self._place(address, size, owner, on_gpu=on_gpu),
            "n": size,
            "dev": device,
            "g": bool(value.requires_grad),
            "p": kind is not self._torch.Tensor,
            **self._gaps(dense),
            **told,
        }

    def _tensor_bytes(
        self, owner: Any, strides: tuple[int, ...], *, dense: bool
    ) -> tuple[Any, int, tuple[int, ...], dict[str, Any]]:
        """The tensor whose bytes are read, at which address, its strides, and what `_told` says.

        `strides`: those that `owner` had before it was moved to the host.
        """
        shape, item, address = tuple(owner.shape), owner.element_size(), owner.data_ptr()
        lies = lying_at(0, shape, [stride * item for stride in strides], item)
        is_there = owner.numel() and tuple(owner.stride()) == strides
        if self.stays is not None and is_there and owner.device.type == "cpu":
            lies = dataclasses.replace(lies, first=owner.storage_offset() * item)
            if told := self._layout_fields(lies, address - lies.first, dense):
                wanted = strides if dense else self._strides_of_copy(lies)
                return owner, address - lies.first, wanted, told
        if not dense or not owner.numel():
            strides = self._strides_of_copy(lies)
        if not owner.numel() or tuple(owner.stride()) == strides:
            return owner, address, strides, {}
        made = self._torch.empty_strided(shape, strides, dtype=owner.dtype, device=owner.device)
        made.copy_(owner)
        self.copied = True
        return made, made.data_ptr(), strides, {}

    def _array(self, value: Any, tag: str) -> Json:
        dtype = str(value.dtype)
        if dtype not in NUMPY_DTYPES:
            raise UnsupportedValue(f"a numpy array of dtype {dtype}")
        item, size, shape = value.itemsize, value.nbytes, tuple(value.shape)
        lies = lying_at(0, shape, value.strides, item)
        dense = not size or lies.are_dense
        told = self._layout_fields(lies, value.ctypes.data, dense)
        strides = tuple(step // item for step in lies.steps)
        if not dense or not size:
            strides = self._strides_of_copy(lies)
        if not dense and not told:
            value = _laid_out(self._numpy, value, strides)
            self.copied = True
        offset = self._place(value.ctypes.data, size, value)
        strides = used_strides(shape, strides)
        node = {"t": tag, "d": dtype, "s": shape, "k": strides, "o": offset, "n": size}
        return {**node, **self._gaps(dense), **told}

    def _layout_fields(self, lies: Elements, address: int, dense: bool) -> dict[str, Any]:
        """Where elements lie, relative to an address, if that has to be told."""
        if self.stays is None or (dense and not lies.first):
            return {}
        start = address + lies.low
        if not dense and (
            self._numpy is None  # with which they are read
            or not can_be_read(lies)
            or not self.stays(start, start + lies.span_bytes)
            or not self.reading.add(lies)
        ):
            return {}
        return {"at": (lies.first, *lies.steps)}

    def _gaps(self, dense: bool) -> dict[str, Any]:
        """What is said of them; nothing of inputs, which a runner is given without gaps."""
        return {} if dense or self.of_input else {"gaps": True}

    def _strides_of_copy(self, lies: Elements) -> tuple[int, ...]:
        """The strides of an input's copy, row-major: a compiled kernel expects nothing else."""
        if self.of_input or not lies.are_apart:
            return contiguous_strides(lies.shape)
        return lies.copy_strides()

    def _place(self, address: int, size_bytes: int, owner: object, *, on_gpu: bool = False) -> int:
        if on_gpu and self.place_on_gpu is not None:
            offset = self.place_on_gpu(address, size_bytes)
            self.leaves.append(Leaf(address, size_bytes, offset, owner, on_gpu, in_arena=True))
            return offset
        offset = self.size_bytes
        self.leaves.append(Leaf(address, size_bytes, offset, owner, on_gpu))
        self.size_bytes = -(-(offset + size_bytes) // ALIGNMENT) * ALIGNMENT
        return offset


# No bound methods: a writer would refer to itself, and keep outputs alive until they are collected,
# which takes away the memory that the next call would be given again.
_PLAIN: dict[type, Callable[[_Writer, Any, int], Json]] = {
    type(None): lambda _writer, _value, _depth: None,
    bool: lambda _writer, value, _depth: value,
    int: _Writer._int,
    float: lambda _writer, value, _depth: {"t": "float", "v": value.hex()},
    complex: lambda _writer, value, _depth: {"t": "complex", "v": hex_pair(value)},
    str: _Writer._text,
    bytes: _Writer._bytes,
    tuple: _Writer._sequence,
    list: _Writer._sequence,
    dict: _Writer._dict,
}


def scalar_bytes(scalar: Any) -> Any:
    """An array without axes over the bytes of a NumPy scalar of a known dtype."""
    numpy: Any = sys.modules["numpy"]
    return numpy.frombuffer(scalar, scalar.dtype).reshape(())


def _laid_out(numpy: Any, array: Any, strides: Sequence[int]) -> Any:
    """A copy with these strides, in elements, which leave no gaps."""
    memory = numpy.empty(max(array.nbytes, 1), numpy.uint8)
    steps = tuple(stride * array.itemsize for stride in strides)
    made = numpy.ndarray(array.shape, array.dtype, memory, 0, steps)
    made[...] = array
    return made


def record_fields(kind: type) -> tuple[str, ...] | None:
    """Field names of a dataclass or NamedTuple type; None for any other type."""
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    fields = getattr(kind, "_fields", None)
    if issubclass(kind, tuple) and isinstance(fields, tuple):
        return fields
    return None


def _is_named(kind: type[tuple[Any, ...]]) -> bool:
    """Whether these are named tuples, as `np.linalg.qr` and `torch.geqrf` return them."""
    return kind.__module__ == "torch.return_types" or record_fields(kind) is not None


def hex_pair(value: complex) -> list[str]:
    """Both parts of a complex number as text."""
    return [value.real.hex(), value.imag.hex()]
