"""What only a machine with a GPU can show: sizes, idle gaps, an endless kernel, `load_inline`,
several GPUs. Made of the examples, whose problems are changed for it.
"""

import math
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

from kernelbot.catalog.problem import load_problem
from kernelbot.harness.host.host import Host
from kernelbot.protocol import (
    Case,
    JobSpec,
    Mode,
    ProblemSpec,
    ProgressEvent,
    RunResult,
    SamplingRules,
    SourceFile,
    Timeouts,
    Verdict,
)
from kernelbot.render.table import table
from scripts.gpu_check.examples import EXAMPLES
from scripts.gpu_check.judged import reason
from scripts.gpu_check.machine import Gpu
from scripts.gpu_check.outputs import are_alike

ADD = "def custom_kernel(data):\n    return data[0] + data[1]\n"
ENDLESS = (
    "import torch\ndef custom_kernel(data):\n    torch.cuda._sleep(1 << 62)\n    return data[0]\n"
)
_DECLARED = "torch::Tensor added(torch::Tensor a, torch::Tensor b)"
CPP_SOURCE = f"#include <torch/extension.h>\n{_DECLARED} {{ return a + b; }}\n"
CUDA_SOURCE = (
    """
#include <torch/extension.h>
template <typename T> __global__ void add(const T* a, const T* b, T* out, long count) {
    long place = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (place < count) out[place] = a[place] + b[place];
}
"""
    + _DECLARED
    + """ {
    auto out = torch::empty_like(a);
    long count = a.numel();
    AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, a.scalar_type(), "added", [&] {
        add<scalar_t><<<(count + 255) / 256, 256>>>(
            a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), count);
    });
    return out;
}
"""
)
_BUILT = """
import time, torch
from torch.utils.cpp_extension import load_inline
start = time.monotonic()
module = load_inline("added", {cpp!r}, {cuda!r}, functions=["added"])
print(f"built in {{time.monotonic() - start:.2f}} s", flush=True)
def custom_kernel(data):
    return module.added(*data)
"""
SIZES_MIB = (4, 16, 64, 256, 1024, 1536)
GAPS_S = (0.0, 0.1, 3.0)
ALLREDUCE = EXAMPLES / "allreduce_py"
_LIMITS = Timeouts(test_s=120, benchmark_s=400, ranked_s=400)
_FEW = SamplingRules(min_samples=10, max_samples=10, patience_s=120, wall_cap_s=120)
_SECOND_BUILD_SHARE = 0.5
_FREED_S = 10.0
_KEPT_MIB = 64
"""What a driver may need more than before, for itself."""


def check_sizes(gpu: Gpu) -> bool:
    """Vector addition from 4 MiB to 1.5 GiB of data: how many samples, why no more, how much memory
    of the device."""
    rows, fine = [], True
    with closing(Host()) as host:
        for mib in SIZES_MIB:
            start = time.monotonic()
            peak: list[int] = []
            with _Watch(peak):
                result = _judge(host, gpu, of_size(mib), ADD, Mode.BENCHMARK)
            took_s = time.monotonic() - start
            fine &= result.verdict is Verdict.ACCEPTED
            rows.append(_size_row(mib, result, took_s, max(peak, default=0)))
    headers = ("data MiB", "median us", "samples", "stopped by", "took s", "on the device MiB")
    print(table(headers, rows, right=headers))
    return fine


def check_gaps(gpu: Gpu) -> bool:
    """The same kernel with the GPU idle for 0, 0.1 and 3 s between calls."""
    medians, fine = [], True
    with closing(Host()) as host:
        for gap_s in GAPS_S:
            result = _judge(host, gpu, with_gap(gap_s), ADD, Mode.BENCHMARK, _FEW)
            fine &= result.verdict is Verdict.ACCEPTED
            loads = result.phases[-1].workloads if fine else ()
            medians += [load.median_ns for load in loads]
            shown = f"{loads[0].median_ns / 1e3:.2f} us" if loads else f"NO: {reason(result)}"
            print(f"idle for {gap_s:g} s: {shown}")
    return fine and are_alike(medians)


def check_endless(gpu: Gpu) -> bool:
    """A kernel that never ends: is it ended in time, its memory freed, and the GPU of use after?"""
    before = used_mib()
    with closing(Host()) as host:
        problem = replace(of_size(64), timeouts=Timeouts(test_s=10, benchmark_s=10, ranked_s=10))
        start = time.monotonic()
        result = _judge(host, gpu, problem, ENDLESS, Mode.TEST)
        print(f"{result.verdict} after {time.monotonic() - start:.1f} s (its limit is 10 s)")
        honest = _judge(host, gpu, of_size(64), ADD, Mode.BENCHMARK)
        print(f"an honest kernel next: {honest.verdict} {reason(honest)}")
    left = _left_mib(before)
    print(f"memory in use: {before} MiB before, {left + before} MiB after")
    ended = result.verdict is Verdict.TIME_LIMIT and honest.verdict is Verdict.ACCEPTED
    return ended and left <= _KEPT_MIB


def check_builds(gpu: Gpu) -> bool:
    """A ranked run of `load_inline`, of CUDA if there is nvcc: it compiles once."""
    with_nvcc = shutil.which("nvcc") is not None
    with closing(Host()) as host:
        result = _judge(host, gpu, of_size(4), built(with_nvcc=with_nvcc), Mode.LEADERBOARD)
    print("compiled by nvcc" if with_nvcc else "nvcc is missing: compiled by g++ alone")
    times_s = build_times_s(result.stdout)
    print(f"{result.verdict} {reason(result)}; built in s: {times_s}")
    return result.verdict is Verdict.ACCEPTED and compiled_once(times_s)


def check_ranks(gpu: Gpu) -> bool:
    """Several GPUs with NCCL; nothing where there is one."""
    count = len(_nvidia_smi("name"))
    if count < 2:
        print("There is one GPU here: nothing was checked.")
        return True
    submission = (ALLREDUCE / "solutions" / "correct" / "builtin.py").read_text()
    with closing(Host()) as host:
        result = _judge(host, gpu, on_gpus(count), submission, Mode.LEADERBOARD)
    print(f"{count} GPUs: {result.verdict} {reason(result)}")
    return result.verdict is Verdict.ACCEPTED


def of_size(mib: int) -> ProblemSpec:
    """Vector addition of so much data."""
    problem = load_problem(EXAMPLES / "vectoradd_py").definition.spec
    size = math.isqrt((mib << 20) // 8)
    cases = (Case({"size": size, "seed": 9173}),)
    return replace(problem, tests=cases, benchmarks=cases, timeouts=_LIMITS)


def built(*, with_nvcc: bool) -> str:
    """A submission that compiles its kernel by `load_inline`."""
    if with_nvcc:
        return _BUILT.format(cpp=f"{_DECLARED};", cuda=CUDA_SOURCE)
    return _BUILT.format(cpp=CPP_SOURCE, cuda="")


def with_gap(gap_s: float) -> ProblemSpec:
    """Vector addition whose generator sleeps first."""
    return _changed(of_size(64), lambda text: f"{text}\n{_SLEEP.format(gap_s=gap_s)}")


def on_gpus(count: int) -> ProblemSpec:
    """The sum over ranks, each on a GPU of its own, for at most so many."""
    problem = load_problem(ALLREDUCE).definition.spec
    made = "torch.randn(size, generator=random)"
    return replace(
        _changed(problem, lambda text: text.replace(made, f"{made}.cuda(rank)")),
        tests=_at_most(count, problem.tests),
        benchmarks=_at_most(count, problem.benchmarks),
        timeouts=_LIMITS,
    )


def _changed(problem: ProblemSpec, change: Callable[[str], str]) -> ProblemSpec:
    """The problem with another reference."""
    files = tuple(
        SourceFile(file.name, change(file.text)) if file.name == "reference.py" else file
        for file in problem.files
    )
    return replace(problem, files=files)


def _at_most(count: int, cases: tuple[Case, ...]) -> tuple[Case, ...]:
    return tuple(case for case in cases if int(str(case.args["world_size"])) <= count)


_SLEEP = """
import time
_awake = generate_input
def generate_input(size, seed):
    time.sleep({gap_s})
    return _awake(size, seed)
"""


def build_times_s(text: str) -> list[float]:
    """How long each import says that it built."""
    return [float(found) for found in re.findall(r"^built in ([0-9.]+) s$", text, re.MULTILINE)]


def compiled_once(times_s: list[float]) -> bool:
    """Whether all but the first found what the first had built."""
    return len(times_s) > 1 and max(times_s[1:]) < _SECOND_BUILD_SHARE * times_s[0]


def used_mib() -> int:
    """Of the first GPU's memory."""
    return int((_nvidia_smi("memory.used") or ["0"])[0].split()[0])


def _left_mib(before: int) -> int:
    deadline = time.monotonic() + _FREED_S
    while (left := used_mib() - before) > _KEPT_MIB and time.monotonic() < deadline:
        time.sleep(0.2)
    return left


def _nvidia_smi(field: str) -> list[str]:
    query = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader"]
    done = subprocess.run(query, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def _judge(
    host: Host,
    gpu: Gpu,
    problem: ProblemSpec,
    source: str,
    mode: Mode,
    sampling: SamplingRules = SamplingRules(),
) -> RunResult:
    submission = SourceFile("submission.py", source)
    job = JobSpec("first", problem, submission, mode, gpu.device, sampling=sampling)
    return host.judge(job, _quiet)


def _quiet(_event: ProgressEvent) -> None:
    """Progress is for people."""


def _size_row(mib: int, result: RunResult, took_s: float, peak_mib: int) -> tuple[str, ...]:
    loads = result.phases[-1].workloads if result.phases else ()
    if not loads:
        return str(mib), "", "", f"NO: {reason(result)}", f"{took_s:.1f}", str(peak_mib)
    load = loads[0]
    median, samples = f"{load.median_ns / 1e3:.2f}", str(len(load.samples_ns))
    return str(mib), median, samples, load.stopped_by, f"{took_s:.1f}", str(peak_mib)


class _Watch(threading.Thread):
    """Notes the memory in use, again and again, for a block."""

    def __init__(self, seen: list[int], ask: Callable[[], int] = used_mib) -> None:
        super().__init__(daemon=True)
        self._seen, self._ask, self._over = seen, ask, threading.Event()

    def run(self) -> None:
        while not self._over.wait(0.1):
            self._seen.append(self._ask())

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self.join()
