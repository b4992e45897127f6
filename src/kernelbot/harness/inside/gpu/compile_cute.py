"""CuTe DSL compiles for a GPU that isn't there: its kernels are compiled as always, and launches do
nothing.

What CuTe makes of an author's host function is run. In place of CUDA's runtime it finds functions
that note which binaries it loads, and with how many threads and how much shared memory it launches
which kernel of them.
"""

import contextlib
import ctypes
import functools
import hashlib
import importlib
import inspect
import json
import os
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernelbot.harness.inside.gpu.gpu_model import GpuModel
from kernelbot.harness.inside.own_builds import CUTE_BINARIES
from kernelbot.protocol import Vendor

BINARY, LAUNCHES = ".fatbin", ".launches"
"""What is left of each binary in `CUTE_BINARIES`: itself, and for each kind of launch a line of
JSON: `[kernel's name, threads of a block, bytes of shared memory that the launch adds, the author's
name for the kernel]`; without threads if it was only loaded."""
MOST = 1000
"""Binaries that are kept, and launches of each."""
_MOST_BYTES = 8 << 20
_MAX_NAME = 16 << 10
_MAX_MESSAGE = 400
_DLPACK_DEVICE_AT = 8
"""Where the kind of device stands in a `DLTensor`, after the pointer."""
_DLPACK_CUDA = 2
_FATBIN_SIZE_AT, _FATBIN_HEADER_BYTES = 8, 16
_WITH_LETTER = 9
"""The generation from which on CuTe names a GPU that it finds with an `a`."""
_MOST_SHARED_BYTES = 1 << 20
_PROCESSORS, _OPT_IN_SHARED = 16, 97
"""CUDA's numbers of a device's attributes."""
_NOT_LAUNCHED = (0, 0, 0)
_COLOURS = re.compile(r"\x1b\[[0-9;]{0,20}m")
_NOT_A_COMPILERS = " - "
"""In place of colons: by these a compiler's or a linker's error is known, which is the author's."""
_DONE = 0
_DO_NOTHING = (
    "_cudaFuncSetAttribute", "_cudaKernelSetAttributeForDevice", "_cudaSetDevice",
    "_cudaDeviceSynchronize", "_cudaStreamSynchronize", "_cudaLibraryUnload",
    "_cuTensorMapEncodeTiled", "_cuTensorMapEncodeIm2col", "_cuTensorMapEncodeIm2colWide",
    "_cuTensorMapReplaceAddress",
)  # fmt: skip
_REPLACED = (
    ("base_dsl.dsl", "BaseDSL", ("_preprocess_and_replace_code", "generate_original_ir")),
    ("cutlass_dsl.cutlass", "CutlassBaseDSL", ("compile_and_cache",)),
    (
        "cutlass_dsl.cuda_jit_executor",
        "CudaDialectJitCompiledFunction",
        ("__init__", "num_devices", "to"),
    ),
    ("cutlass_dsl.cutlass", "KernelLauncher", ("launch",)),
    ("_mlir.execution_engine", "ExecutionEngine", ("__init__", "raw_register_runtime")),
    ("cute.runtime", "_Tensor", ("__init__",)),
    ("utils", "HardwareInfo", ("__init__",)),
)
"""Module, class, and what of it is replaced or used."""
_HARDWARE_INFO: dict[str, Callable[..., int]] = {
    "get_max_active_clusters": lambda model, size, *_rest: max(model.processors // size, 1),
    "get_device_multiprocessor_count": lambda model: model.processors,
}


def cute_arch(model: GpuModel) -> str:
    """CuTe's name of the model, as CuTe names such a GPU if it finds one."""
    letter = "a" if model.arch.isdecimal() and model.capability[0] >= _WITH_LETTER else ""
    return f"sm_{model.arch}{letter}"


def install(model: GpuModel) -> None:
    """Have CuTe compile for `model` in this process until it ends. Without CuTe, with one that is
    too old for this, and for a model that CuTe doesn't know nothing is done."""
    if model.vendor is not Vendor.NVIDIA:
        return
    arch = cute_arch(model)
    os.environ["CUTE_DSL_ARCH"] = arch  # read once, while it is imported
    try:
        known = importlib.import_module("cutlass.base_dsl.arch").Arch.__members__
        dsl, compiler, executor, launcher, engine, tensor, info = map(_found, _REPLACED)
    except (ImportError, AttributeError, OSError, RuntimeError):
        return
    if arch not in known:
        return
    stand_in = _Runtime(model)
    _give_runtime(engine, stand_in)
    executor.num_devices = 1
    _load_once_compiled(executor)
    _name_kernels(launcher, stand_in)
    _take_tensors_for_the_gpus(tensor)
    _say_where(dsl, "_preprocess_and_replace_code")
    _say_where(dsl, "generate_original_ir")
    _say_where(compiler, "compile_and_cache")
    info.__init__ = lambda _self, *_device: None
    for name, answer in _HARDWARE_INFO.items():
        setattr(info, name, _answering(answer, model))


def _found(place: tuple[str, str, tuple[str, ...]]) -> Any:
    """The class. Raises AttributeError unless it has all that is going to be replaced."""
    module, name, members = place
    found = getattr(importlib.import_module(f"cutlass.{module}"), name)
    for member in members:
        inspect.getattr_static(found, member)
    return found


def _answering(answer: Callable[..., int], model: GpuModel) -> Callable[..., int]:
    return lambda _self, *arguments, **_options: answer(model, *arguments)


def _give_runtime(engine: Any, stand_in: "_Runtime") -> None:
    """What a compiled host function calls is looked up here before CuTe's library of it."""
    make = engine.__init__

    @functools.wraps(make)
    def with_stand_in(self: Any, *arguments: Any, **options: Any) -> None:
        make(self, *arguments, **options)
        for name, function in stand_in.functions.items():
            self.raw_register_runtime(name, ctypes.cast(function, ctypes.c_void_p))

    engine.__init__ = with_stand_in


def _load_once_compiled(executor: Any) -> None:
    """A kernel that is never launched is known all the same."""
    make = executor.__init__

    @functools.wraps(make)
    def and_load(self: Any, *arguments: Any, **options: Any) -> None:
        make(self, *arguments, **options)
        if self.engine is not None and self.has_gpu_module:
            with contextlib.suppress(RuntimeError):  # told when it is called
                self.to()

    executor.__init__ = and_load


def _name_kernels(launcher: Any, stand_in: "_Runtime") -> None:
    launch = launcher.launch

    @functools.wraps(launch)
    def and_note(self: Any, *arguments: Any, **options: Any) -> Any:
        launched = launch(self, *arguments, **options)
        stand_in.authors_names[self._launch_name] = self.funcBody.__name__
        return launched

    launcher.launch = and_note


def _take_tensors_for_the_gpus(tensor: Any) -> None:
    """A kernel is compiled for the kind of memory that its arguments lie in."""
    make = tensor.__init__

    @functools.wraps(make)
    def as_the_gpus(self: Any, *arguments: Any, **options: Any) -> None:
        make(self, *arguments, **options)
        at = _address(self._dlpack_data)
        if at is not None:
            ctypes.c_int32.from_address(at + _DLPACK_DEVICE_AT).value = _DLPACK_CUDA

    tensor.__init__ = as_the_gpus


def _address(capsule: object) -> int | None:
    api = ctypes.pythonapi.PyCapsule_GetPointer
    api.restype, api.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    with contextlib.suppress(ValueError):
        return api(capsule, b"dltensor")  # type: ignore[no-any-return]  # as its restype says
    return None


def _say_where(kind: Any, name: str) -> None:
    """What CuTe can't compile is told with its place in the author's file, as g++ tells it."""
    work = inspect.getattr_static(kind, name)
    is_static = isinstance(work, staticmethod)
    told = _telling(work.__func__ if is_static else work)
    setattr(kind, name, staticmethod(told) if is_static else told)


def _telling(work: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(work)
    def tell(*arguments: Any, **options: Any) -> Any:
        try:
            return work(*arguments, **options)
        except Exception as error:
            if not getattr(error, "__notes__", ()):  # said where it was raised
                error.add_note(_note(error))
            raise

    return tell


def _note(error: Exception) -> str:
    """Where in the author's file it was, and what. Without a place, if it only says that there is
    no GPU, that a package is missing, or that CuTe itself has failed."""
    first: BaseException = error
    while first.__cause__ is not None:
        first = first.__cause__
    frames = traceback.extract_tb(first.__traceback__)
    is_cutes_own = getattr(first, "_is_internal", False)
    is_nobodys = isinstance(first, ImportError | OSError | MemoryError) or is_cutes_own
    place = None if is_nobodys or _is_of_cuda(first, frames) else _place(error, first, frames)
    if place is not None:
        return f"{place}: error: {_words(first)}"
    words = _words(error if hasattr(error, "message") and not is_nobodys else first)
    return f"CuTe DSL: {words}".replace(": ", _NOT_A_COMPILERS)


def _words(error: BaseException) -> str:
    """All that it says, in one line."""
    name = f"{type(error).__name__}: " if type(error).__module__ == "builtins" else ""
    cause = getattr(error, "cause", None)
    said = f"{getattr(error, 'message', error)} {cause or ''}"
    return f"{name}{' '.join(_COLOURS.sub('', said).split())}"[:_MAX_MESSAGE]


def _is_of_cuda(error: BaseException, frames: traceback.StackSummary) -> bool:
    bindings = f"{os.sep}cuda{os.sep}bindings{os.sep}"
    return "Cuda" in type(error).__name__ or bool(frames and bindings in frames[-1].filename)


def _place(
    error: BaseException, first: BaseException, frames: traceback.StackSummary
) -> str | None:
    """`FILE:LINE:COLUMN` below the runner's folder: CuTe's own words, else the last frame's."""
    home = f"{os.environ['HOME']}{os.sep}"
    for one in (first, error):
        file, line = getattr(one, "filename", None), getattr(one, "line", None)
        if isinstance(file, str) and file.startswith(home) and isinstance(line, int):
            return f"{file.removeprefix(home)}:{line}"
    for frame in reversed(frames):
        if frame.filename.startswith(home) and frame.lineno is not None:
            column = f":{frame.colno + 1}" if frame.colno is not None else ""
            return f"{frame.filename.removeprefix(home)}:{frame.lineno}{column}"
    return None


class _Library:
    """A binary that was loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.launches: set[str] = set()


class _Runtime:
    """What CuTe's host functions call, as C functions by their names."""

    def __init__(self, model: GpuModel) -> None:
        self._model = model
        self._by_path: dict[Path, _Library] = {}
        self._libraries: list[_Library] = []
        self._kernels: list[tuple[_Library, str]] = []
        self._room_bytes = _MOST_BYTES
        self.authors_names: dict[str, str] = {}
        """By a kernel's name in its binary, what the author calls it."""
        pointer, number, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
        six = 6 * [ctypes.c_uint]
        made: dict[str, tuple[Callable[..., int], list[Any]]] = {
            "_cudaLibraryLoadData": (self._load, [pointer, pointer]),
            "_cudaLibraryGetKernel": (self._find, [pointer, pointer, ctypes.c_char_p]),
            "_cudaLaunchKernelEx": (self._launch, [pointer, pointer]),
            "_cudaLaunchKernel": (self._launch_plainly, [pointer, *six, pointer, size]),
            "_cudaGetDevice": (_answer_with(0), [pointer]),
            "_cudaGetDeviceCount": (_answer_with(1), [pointer]),
            "_cudaDeviceGetAttribute": (self._attribute, [pointer, number]),
            "_cuKernelGetAttribute": (_answer_with(0), [pointer]),
            "_cudaOccupancyMaxActiveBlocksPerMultiprocessor": (_answer_with(1), [pointer]),
            **{name: (lambda: _DONE, []) for name in _DO_NOTHING},
        }
        self.functions = {
            name: ctypes.CFUNCTYPE(number, *kinds)(function)
            for name, (function, kinds) in made.items()
        }

    def _load(self, answer: int, binary: int) -> int:
        size = ctypes.c_uint64.from_address(binary + _FATBIN_SIZE_AT).value
        content = ctypes.string_at(binary, size + _FATBIN_HEADER_BYTES)
        name = hashlib.sha256(content).hexdigest()[:32]
        path = Path(os.environ["HOME"], CUTE_BINARIES, name)
        if path not in self._by_path:
            self._by_path[path] = _Library(path)
            self._append(path.with_suffix(BINARY), content)
        self._libraries.append(self._by_path[path])
        ctypes.c_void_p.from_address(answer).value = len(self._libraries)
        return _DONE

    def _append(self, path: Path, content: bytes) -> None:
        if len(content) > self._room_bytes or len(self._by_path) > MOST:
            return
        self._room_bytes -= len(content)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.write(content)

    def _find(self, answer: int, library: int, name: bytes) -> int:
        found = name[:_MAX_NAME].decode(errors="replace")
        self._kernels.append((self._libraries[library - 1], found))
        self._note(len(self._kernels), _NOT_LAUNCHED, 0)
        ctypes.c_void_p.from_address(answer).value = len(self._kernels)
        return _DONE

    def _launch(self, launch: int, kernel: int) -> int:
        sizes = (ctypes.c_uint32 * 6).from_address(launch)
        shared = ctypes.c_uint64.from_address(launch + ctypes.sizeof(sizes)).value
        return self._note(kernel, sizes[3:], shared)

    def _launch_plainly(self, kernel: int, *rest: int) -> int:
        return self._note(kernel, rest[3:6], rest[7])

    def _note(self, kernel: int, block: Any, shared_bytes: int) -> int:
        library, name = self._kernels[kernel - 1]
        threads = block[0] * block[1] * block[2]
        authors = self.authors_names.get(name, "")
        told = json.dumps([name, threads, shared_bytes, authors])
        if told not in library.launches and len(library.launches) < MOST:
            library.launches.add(told)
            self._append(library.path.with_suffix(LAUNCHES), f"{told}\n".encode())
        return _DONE

    def _attribute(self, answer: int, attribute: int) -> int:
        values = {_PROCESSORS: self._model.processors, _OPT_IN_SHARED: _MOST_SHARED_BYTES}
        return _answer_with(values.get(attribute, 0))(answer)


def _answer_with(value: int) -> Callable[[int], int]:
    def answer(place: int) -> int:
        ctypes.c_int32.from_address(place).value = value
        return _DONE

    return answer
