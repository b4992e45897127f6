"""Runs code that names a GPU on a machine without one: maps torch's cuda calls to the CPU.

Problems and submissions written for a GPU use `device="cuda"`, synchronise, time with events. On a
device without a GPU `install()` maps exactly the calls in the tables below; anything else of
`torch.cuda` (graphs, pinned pools, ...) still fails with torch's own message. Torch and triton
themselves still see that there is no GPU. Triton kernels run in triton's interpreter; where they
are to be compiled for a GPU that isn't there, its model answers for it.
"""

import functools
import importlib
import os
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from kernelbot.harness.inside.gpu import libdevice, small_floats
from kernelbot.harness.inside.gpu.gpu_model import GpuModel
from kernelbot.harness.inside.machine import machine_memory_bytes
from kernelbot.protocol import Vendor

# fmt: off
FACTORIES = (
    "arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_like",
    "empty_permuted", "empty_strided", "eye", "from_file", "full", "full_like", "hamming_window",
    "hann_window", "kaiser_window", "linspace", "logspace", "normal", "ones", "ones_like", "rand",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "scalar_tensor",
    "sparse_coo_tensor", "tensor", "tril_indices", "triu_indices", "zeros", "zeros_like",
)
"""Functions of `torch` that take `device=` (and `pin_memory=`)."""

NEW_METHODS = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros")
"""Methods of a tensor that take `device=`."""

NO_EFFECT = (
    "empty_cache", "init", "ipc_collect", "reset_accumulated_memory_stats",
    "reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_memory_stats",
    "set_device", "set_per_process_memory_fraction", "set_stream", "synchronize",
)
"""Functions of `torch.cuda` with nothing to do: a CPU's work is done when a call returns."""

ZERO = (
    "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved",
)
"""Functions of `torch.cuda` whose answer is 0."""
# fmt: on

NVTX = ("mark", "range_end", "range_pop", "range_push", "range_start")
"""Functions of `torch.cuda.nvtx`, without effect."""

NAME = "CPU (in place of a GPU)"
_TOLD_THE_TRUTH = ("torch", "triton", "kernelbot")


class Event:
    """`torch.cuda.Event` by the host's clock."""

    def __init__(self, *_args: object, **_options: object) -> None:
        self._at_ns: int | None = None

    def record(self, stream: object = None) -> None:
        del stream
        self._at_ns = time.perf_counter_ns()

    def elapsed_time(self, end: "Event") -> float:
        """Milliseconds from this event to `end`. Raises RuntimeError unless both were recorded."""
        if self._at_ns is None or end._at_ns is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return (end._at_ns - self._at_ns) / 1e6

    def query(self) -> bool:
        return True

    def wait(self, stream: object = None) -> None:
        del stream

    def synchronize(self) -> None:
        """Nothing is outstanding."""


class Stream:
    """`torch.cuda.Stream`: everything happens at once, in order."""

    cuda_stream = 0

    def __init__(self, *_args: object, **_options: object) -> None:
        self.device_index = 0

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        del event

    def wait_stream(self, stream: object) -> None:
        del stream

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        """Nothing is outstanding."""

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        return None


def install(model: GpuModel | None = None) -> None:
    """Map the calls in this process until it ends. Needs torch. Idempotent. `model`: of the GPU
    for which Triton compiles here; None: its interpreter is used."""
    import torch

    if hasattr(torch.cuda.is_available, "on_cpu"):
        return
    if model is None:
        os.environ.setdefault("TRITON_INTERPRET", "1")
        libdevice.install()
        small_floats.install()
        torch.compile = _beside_interpreted_kernels(torch, torch.compile)
    to_cpu = _device_mapping(torch)
    _map_factories(torch, to_cpu)
    _map_tensor(torch, to_cpu)
    _map_random(torch, to_cpu)
    _map_cuda(torch, model)


def _beside_interpreted_kernels(torch: Any, compile_function: Any) -> Any:
    """`torch.compile`, which leaves the kernels of Triton's interpreter as they are: it would trace
    the interpreter itself, and can't. So what has such kernels isn't one graph."""

    @functools.wraps(compile_function)
    def compiled(*args: Any, **options: Any) -> Any:
        interpreter: Any = sys.modules.get("triton.runtime.interpreter")
        if interpreter is not None:
            kernels = interpreter.InterpretedFunction
            if not hasattr(kernels.run, "_torchdynamo_disable"):
                kernels.run = torch.compiler.disable(kernels.run)
            options["fullgraph"] = False
        return compile_function(*args, **options)

    return compiled


def _device_mapping(torch: Any) -> Callable[[object], object]:
    cpu, device_type = torch.device("cpu"), torch.device

    def to_cpu(device: object) -> object:
        """The CPU if `device` names a GPU (also by a bare index), else `device` itself."""
        if isinstance(device, str):
            return cpu if device.startswith("cuda") else device
        if isinstance(device, device_type):
            return cpu if device.type == "cuda" else device
        return cpu if type(device) is int else device

    return to_cpu


def _map_factories(torch: Any, to_cpu: Callable[[object], object]) -> None:
    def mapped(function: Any) -> Any:
        @functools.wraps(function)
        def factory(*args: Any, **options: Any) -> Any:
            if "device" in options:
                options["device"] = to_cpu(options["device"])
            if "pin_memory" in options:
                options["pin_memory"] = False
            return function(*args, **options)

        return factory

    for name in FACTORIES:
        setattr(torch, name, mapped(getattr(torch, name)))
    for name in NEW_METHODS:
        setattr(torch.Tensor, name, mapped(getattr(torch.Tensor, name)))
    torch.set_default_device = _on_first_argument(torch.set_default_device, "device", to_cpu)


def _on_first_argument(function: Any, name: str, change: Callable[[Any], Any]) -> Any:
    """`function` with its first argument (positional, or by `name`) changed."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if name in options:
            options[name] = change(options[name])
        elif args:
            args = (change(args[0]), *args[1:])
        return function(*args, **options)

    return call


def _map_tensor(torch: Any, to_cpu: Callable[[object], object]) -> None:
    tensor = torch.Tensor
    original_to = tensor.to

    @functools.wraps(original_to)
    def to(self: Any, *args: Any, **options: Any) -> Any:
        if args:
            args = (to_cpu(args[0]), *args[1:])
        if "device" in options:
            options["device"] = to_cpu(options["device"])
        return original_to(self, *args, **options)

    tensor.to = to
    tensor.cuda = lambda self, *_args, **_options: self
    tensor.pin_memory = lambda self, *_args, **_options: self
    tensor.record_stream = _always(None)
    tensor.is_cuda = property(_truthful_to_frameworks(tensor.is_cuda.__get__, _yes))
    autocast = torch.amp.autocast_mode.autocast
    original_init = autocast.__init__

    @functools.wraps(original_init)
    def init(self: Any, device_type: str, *args: Any, **options: Any) -> None:
        original_init(self, "cpu" if device_type == "cuda" else device_type, *args, **options)

    autocast.__init__ = init


def _map_random(torch: Any, to_cpu: Callable[[object], object]) -> None:
    default = torch.default_generator
    base = torch.Generator

    class Kind(type(base)):  # type: ignore[misc]  # torch's types aren't known to the checker
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, base)

    class Generator(base, metaclass=Kind):  # type: ignore[misc, valid-type]  # as above
        def __new__(cls, device: object = "cpu") -> Any:
            return base.__new__(cls, to_cpu(device))

        def __init__(self, device: object = "cpu") -> None:
            del device

    torch.Generator = Generator
    cuda = torch.cuda
    cuda.manual_seed = cuda.manual_seed_all = _without_answer(default.manual_seed)
    cuda.seed = cuda.seed_all = _without_answer(default.seed)
    cuda.initial_seed = default.initial_seed
    cuda.get_rng_state = lambda *_args, **_options: default.get_state()
    cuda.set_rng_state = lambda state, *_args, **_options: default.set_state(state)


def _map_cuda(torch: Any, model: GpuModel | None) -> None:
    cuda = torch.cuda
    nvtx = importlib.import_module("torch.cuda.nvtx")
    for name in NO_EFFECT:
        setattr(cuda, name, _always(None))
    for name in ZERO:
        setattr(cuda, name, _always(0))
    for name in NVTX:
        setattr(nvtx, name, _always(0))
    nvtx.range = _always(nullcontext())  # type: ignore[attr-defined]  # torch has no types here
    answers: dict[str, Callable[[], object]] = {
        "is_available": _yes,
        "is_initialized": _yes,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_name": lambda: NAME,
        "get_device_capability": lambda: (0, 0) if model is None else model.capability,
        "get_device_properties": lambda: _properties(model),
        "mem_get_info": lambda: (machine_memory_bytes(), machine_memory_bytes()),
    }
    for name, answer in answers.items():
        setattr(cuda, name, _truthful_to_frameworks(getattr(cuda, name), answer))
    cuda.Event, cuda.Stream = Event, Stream
    the_stream = Stream()
    cuda.current_stream = cuda.default_stream = _always(the_stream)
    cuda.stream = _always(the_stream)
    cuda.device = _always(nullcontext())


def _without_answer(function: Callable[..., object]) -> Callable[..., None]:
    def call(*args: object) -> None:
        function(*args)

    return call


def _yes() -> bool:
    return True


def _always(answer: object) -> Callable[..., Any]:
    def function(*_args: object, **_options: object) -> object:
        return answer

    return function


def _truthful_to_frameworks(original: Any, answer: Callable[[], object]) -> Callable[..., Any]:
    """Torch, triton and the harness choose code paths by these; only other callers get `answer`,
    that there is a GPU."""

    def function(*args: object, **options: object) -> object:
        caller = str(sys._getframe(1).f_globals.get("__name__", ""))
        if caller.partition(".")[0] in _TOLD_THE_TRUTH:
            return original(*args, **options)
        return answer()

    function.on_cpu = True  # type: ignore[attr-defined]  # the mark that `install` looks for
    return function


def _properties(model: GpuModel | None) -> SimpleNamespace:
    major, minor = (0, 0) if model is None else model.capability
    return SimpleNamespace(
        name=NAME,
        major=major,
        minor=minor,
        total_memory=machine_memory_bytes(),
        multi_processor_count=(os.cpu_count() or 1) if model is None else model.processors,
        max_threads_per_multi_processor=1,
        warp_size=32 if model is None else model.warp_threads,
        **({"gcnArchName": model.arch} if model and model.vendor is Vendor.AMD else {}),
    )
