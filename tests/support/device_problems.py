"""A problem whose data and outputs lie on a GPU: the stand-in's."""

from dataclasses import replace
from pathlib import Path

from kernelbot.catalog.reference import read_reference
from kernelbot.protocol import (
    BuildConfig,
    Case,
    DeviceSpec,
    JobSpec,
    Lang,
    Mode,
    ProblemSpec,
    SourceFile,
    Timeouts,
    Vendor,
)
from tests.harness.jobs import a_job, a_problem

_FAKES = Path(__file__).parent.parent / "fakes" / "cuda"
TENSORS, MEETING = _FAKES / "tensors.py", _FAKES / "meeting.py"
DEVICE = DeviceSpec("fake", Vendor.NVIDIA, arch="90")
DRIVER = """import ctypes
driver = ctypes.CDLL("libcuda.so.1")
driver.fake_launch.argtypes = (ctypes.c_void_p, ctypes.c_int64)
"""
REFERENCE = """
import numpy as np, tensors
from task import *
def generate_input(size, outputs, seed):
    values = np.random.default_rng(seed).standard_normal(size).astype(np.float32)
    return tensors.tensor(values, device="cuda"), outputs
def ref_kernel(data):
    x, outputs = data
    made = [x * (factor + 2) for factor in range(outputs)]
    return made[0] if outputs == 1 else made
def check_implementation(data, output):
    expected = ref_kernel(data)
    pairs = [(output, expected)] if data[1] == 1 else zip(output, expected)
    return all(tensors.equal(one, other) for one, other in pairs), "not scaled"
"""
SCALE = """
import tensors
def custom_kernel(data):
    x, outputs = data
    made = [x * (factor + 2) for factor in range(outputs)]
    return made[0] if outputs == 1 else made
"""
COMPILED_REFERENCE = """
import numpy as np, tensors
from task import *
def generate_input(size, outputs, seed):
    values = np.random.default_rng(seed).standard_normal(size).astype(np.float32)
    return tensors.tensor(values, device="cuda"), tensors.zeros(size, device="cuda"), size
def ref_kernel(data):
    return data[0] * 2
def check_implementation(data, output):
    return tensors.equal(output, ref_kernel(data)), "not doubled"
"""
DOUBLE = """
#include <cstdint>
extern "C" void custom_kernel(const float* x, float* out, int64_t size) {
    for (int64_t i = 0; i < size; ++i) out[i] = 2 * x[i];
}
"""
RANKS_REFERENCE = """
import meeting, numpy as np, tensors
from task import *
def generate_input(size, outputs, seed, rank, world_size):
    random = np.random.default_rng(seed * 1009 + rank)
    values = random.standard_normal(size * (1 + rank)).astype(np.float32)
    return tensors.tensor(values, device=f"cuda:{rank}"), size, outputs
def ref_kernel(data):
    x, size, outputs = data
    total = x[:size].clone()
    meeting.all_reduce(total)
    made = [total * (factor + 2) for factor in range(outputs)]
    return made[0] if outputs == 1 else made
def check_implementation(data, output):
    expected = ref_kernel(data)
    pairs = [(output, expected)] if data[2] == 1 else zip(output, expected)
    return all(tensors.equal(one, other) for one, other in pairs), "not the sum"
"""
SUM_RANKS = """
import meeting, tensors
def custom_kernel(data):
    x, size, outputs = data
    total = x[:size].clone()
    meeting.all_reduce(total)
    made = [total * (factor + 2) for factor in range(outputs)]
    return made[0] if outputs == 1 else made
"""


OWN_CLASS = """
class Batch:
    def __init__(self, x):
        self.x, self.kind = x, tensors.float32
    def get(self):
        return self.x
"""


def with_own_class(problem: ProblemSpec) -> ProblemSpec:
    """The same, whose array comes in an object of the reference's: kernels say `x.get()`."""
    reference = problem.files[0].text.replace(
        "def generate_input", f"{OWN_CLASS}def generate_input"
    )
    reference = reference.replace("return tensors.tensor(", "batch = Batch(tensors.tensor(")
    for given in ("outputs", "size, outputs"):  # the latter for ranks
        for device in ('"cuda"', 'f"cuda:{rank}"'):
            reference = reference.replace(
                f"device={device}), {given}\n", f"device={device}))\n    return batch, {given}\n"
            )
    reference = reference.replace("= data\n", "= data\n    x = x.get()\n")
    files = (SourceFile("reference.py", reference), *problem.files[1:])
    classes = read_reference(reference).input_classes.text
    return replace(problem, files=files, input_classes=classes)


def ranks_problem(
    *, outputs: tuple[int, ...] = (1,), size: int = 3000, world_size: int = 2
) -> ProblemSpec:
    """Adds up the ranks' arrays, as many times as there are `outputs`, each by another factor. Each
    rank has its number times more data than the first, of which it needs as much as that."""
    shared = (
        SourceFile("task.py", "import meeting, tensors\n"),
        SourceFile("tensors.py", TENSORS.read_text()),
        SourceFile("meeting.py", MEETING.read_text()),
    )
    fixed = {"size": size, "seed": 7, "world_size": world_size}
    cases = tuple(Case({**fixed, "outputs": count}) for count in outputs)
    problem = a_problem(reference=RANKS_REFERENCE, files=shared, timeouts=Timeouts(20, 60, 60))
    return replace(problem, tests=cases, benchmarks=cases, multi_gpu=True)


def device_problem(*, outputs: tuple[int, ...] = (1,), size: int = 3000) -> ProblemSpec:
    """Scales an array: `outputs` copies of it, each by another factor."""
    shared = (
        SourceFile("task.py", "import tensors\n"),
        SourceFile("tensors.py", TENSORS.read_text()),
    )
    cases = tuple(Case({"size": size, "outputs": count, "seed": 7}) for count in outputs)
    problem = a_problem(reference=REFERENCE, files=shared, timeouts=Timeouts(20, 60, 60))
    return replace(problem, tests=cases, benchmarks=cases)


def compiled_problem() -> ProblemSpec:
    """Doubles an array, in C++."""
    problem = device_problem()
    files = (SourceFile("reference.py", COMPILED_REFERENCE), *problem.files[1:])
    return replace(
        problem,
        lang=Lang.CPP,
        files=files,
        submission_name="submission.cpp",
        config=BuildConfig(sources=("submission.cpp",), outputs=(1,)),
    )


def device_job(source: str, mode: Mode, problem: ProblemSpec) -> JobSpec:
    """A run of `source`; its kernel may use the driver as `driver`."""
    code = source if problem.lang is not Lang.PY else DRIVER + source
    return replace(a_job(code, mode=mode, problem=problem), device=DEVICE)
