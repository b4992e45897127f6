"""What a timed call on a GPU costs in copies, synchronisations and messages, by the way data takes.

Counted at the stand-in for NVIDIA's driver, in the processes themselves: `python -m
benchmarks.gpu_calls`. It shows numbers of calls, never times: no GPU is needed, and none is used.
"""

import ctypes
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.support.cuda_driver import build_driver
from tests.support.device_problems import SCALE, device_job, device_problem

from kernelbot.harness.data.encode import Encoded, Leaf
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.host.host import Host
from kernelbot.harness.inside.gpu.timing import CudaGpu
from kernelbot.harness.inside.runner.probes import OUTPUT_BASE, take
from kernelbot.harness.judge.calls.probes import choose
from kernelbot.protocol import Mode, RunResult, SamplingRules, Verdict
from kernelbot.render.table import table

OUTPUTS = (1, 2, 4, 8)
FEW, MANY = 20, 60
_COPIES = ("cuMemcpyDtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2")
_WAITS = ("cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize")
_NAME_BYTES, _NAMES = 48, 64
_SAYS_COUNTS = """
import json
driver.fake_count.restype = ctypes.c_int64
def counted():
    names = NAMES
    print(json.dumps([driver.fake_count(name.encode()) for name in names]))
""".replace("NAMES", repr((*_COPIES, *_WAITS)))


class _Count(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char * _NAME_BYTES), ("calls", ctypes.c_int64))


def main() -> int:
    """The command; 0 unless a run wasn't accepted."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        library = build_driver(path)
        counts = path / "counts"
        counts.touch(mode=0o600)
        os.environ["LD_LIBRARY_PATH"] = str(path)
        host = Host()
        try:
            rows = [_row(host, counts, library, outputs) for outputs in OUTPUTS]
        finally:
            host.close()
    headers = ("outputs", "runner, by the host", "runner, in arenas", "judge, in arenas")
    print("Copies and waits for each timed call, without the kernel's own:\n")
    print(table(headers, rows))
    print(
        "\nBy the host, each call also copies its input four times and its output three times in "
        "the\nhost's memory; in arenas nothing. Messages: six either way; between the judge's two "
        "looks at\nits clock two either way."
    )
    return 0


def _row(host: Host, counts: Path, library: Path, outputs: int) -> tuple[str, ...]:
    few, _ = _judged(host, counts, outputs, FEW)
    many, runner = _judged(host, counts, outputs, MANY)
    judge = [(b - a) / (MANY - FEW) for a, b in zip(few, many, strict=True)]
    return str(outputs), _text(_by_host(library, outputs)), _text(runner), _text(judge)


def _judged(host: Host, counts: Path, outputs: int, samples: int) -> tuple[list[int], list[float]]:
    """The judge's copies and waits in one run, and the runner's for each of its timed calls."""
    rules = SamplingRules(
        min_samples=samples, max_samples=samples, min_total_s=0.0, wall_cap_s=60.0, warmup_s=0.0
    )
    source = _SAYS_COUNTS + SCALE.replace("    x, outputs", "    counted()\n    x, outputs")
    problem = device_problem(outputs=(outputs,))
    job = replace(device_job(source, Mode.BENCHMARK, problem), sampling=rules)
    before = _read(counts)
    result = host.judge(job, lambda _event: None)
    if result.verdict is not Verdict.ACCEPTED:
        sys.exit(f"not accepted: {result.failure}")
    after = _read(counts)
    return [b - a for a, b in zip(before, after, strict=True)], _of_runner(result)


def _of_runner(result: RunResult) -> list[float]:
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    first, last = lines[2], lines[-1]  # behind the test's call and a warm one
    calls = len(lines) - 3
    totals = [(b - a) / calls for a, b in zip(first, last, strict=True)]
    return [sum(totals[: len(_COPIES)]), sum(totals[len(_COPIES) :])]


def _by_host(library: Path, outputs: int) -> list[float]:
    """What the runner does with as many outputs if they pass the host's memory: waiting before and
    after the call, probes, and the copies."""
    gpu, driver = CudaGpu(str(library)), ctypes.CDLL(str(library))
    driver.fake_count.restype = ctypes.c_int64
    size = 4096
    data = (ctypes.c_char * (outputs * size))()
    leaves = tuple(
        Leaf(ctypes.addressof(data) + i * size, size, i * size, data, on_gpu=True)
        for i in range(outputs)
    )
    result = Encoded(None, leaves, outputs * size)
    buffer = SharedBuffer.create(OUTPUT_BASE + result.size_bytes)
    before = [driver.fake_count(name.encode()) for name in (*_COPIES, *_WAITS)]
    gpu.timed(lambda: None, (), cold=True)
    take(buffer, result, choose(), gpu.read)
    result.copy_to(buffer, OUTPUT_BASE, gpu.read)
    after = [driver.fake_count(name.encode()) for name in (*_COPIES, *_WAITS)]
    buffer.close()
    more = [b - a for a, b in zip(before, after, strict=True)]
    return [sum(more[: len(_COPIES)]) + 1, sum(more[len(_COPIES) :]) + 1]  # and the input's


def _read(counts: Path) -> list[int]:
    content = counts.read_bytes().ljust(ctypes.sizeof(_Count) * _NAMES, b"\0")
    found = {one.name.decode(): one.calls for one in (_Count * _NAMES).from_buffer_copy(content)}
    copies = sum(found.get(name, 0) for name in _COPIES)
    return [copies, sum(found.get(name, 0) for name in _WAITS)]


def _text(pair: list[float]) -> str:
    return f"{pair[0]:.1f} copies, {pair[1]:.1f} waits"


if __name__ == "__main__":
    sys.exit(main())
