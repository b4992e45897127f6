"""The sandbox with the device in it, and a small job judged, both for real."""

import json
from collections.abc import Iterator

from kernelbot.harness.gpu.access import GpuAccess, gpu_access
from kernelbot.harness.gpu.nodes import Assigned
from kernelbot.harness.host.host import Host
from kernelbot.harness.host.vendor.finding import VendorFinding
from kernelbot.harness.sandbox import CommandNotStarted, RunnerClient, Zygote, run_command
from kernelbot.harness.sandbox.device_filter import can_filter, render_filter
from kernelbot.harness.words.sandbox import CommandResult, Flavour, SandboxUnavailable, ZygoteConfig
from kernelbot.protocol import (
    BuildConfig,
    Case,
    DeviceSpec,
    HarnessKind,
    JobSpec,
    Lang,
    Mode,
    ProblemSpec,
    SamplingRules,
    SourceFile,
    Vendor,
    Verdict,
)

_START_S = 60.0
_PROBE_S = 120.0
_PROBE = """
import ctypes, glob, json, os
files = sorted(glob.glob("/dev/nvidia[0-9]*") + glob.glob("/dev/dri/renderD*"))
found = {"files": files, "refused": [], "cuda": None}
for path in files + glob.glob("/dev/kfd") + glob.glob("/dev/nvidiactl"):
    try:
        os.close(os.open(path, os.O_RDWR))
    except OSError as error:
        found["refused"].append(f"{path}: {error.strerror}")
try:
    cuda, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(-1)
    status = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
    found["cuda"] = f"error {status}" if status else count.value
except (OSError, AttributeError) as error:
    found["cuda"] = str(error)
print(json.dumps(found))
"""


def try_out(vendor: Vendor, assigned: Assigned) -> Iterator[VendorFinding]:
    """What a runner sees of the GPUs, then whether a job is judged."""
    yield _sandbox(vendor, assigned)
    yield _judged(vendor)


def _sandbox(vendor: Vendor, assigned: Assigned) -> VendorFinding:
    try:
        access = gpu_access(vendor, can_filter=can_filter)
        ended = _in_sandbox(access)
        seen = json.loads(ended.stdout)
    except (SandboxUnavailable, CommandNotStarted) as error:
        return VendorFinding("sandbox", False, True, str(error))
    except ValueError:
        return VendorFinding("sandbox", False, True, f"the probe failed: {ended.stderr[-300:]}")
    if vendor is Vendor.CPU:
        return VendorFinding("sandbox", True, True, "works")
    wrong = list(seen["refused"])
    given = sorted(gpu.path for gpu in assigned.gpus)
    others = [] if access.alone else sorted(gpu.path for gpu in assigned.others)
    if seen["files"] != sorted(given + others):
        wrong.append(f"it shows {', '.join(seen['files']) or 'no GPU'}, not {', '.join(given)}")
    if vendor is Vendor.NVIDIA and seen["cuda"] != len(given):
        wrong.append(f"CUDA finds {seen['cuda']} instead of {len(given)} GPUs in it")
    if wrong:
        return VendorFinding("sandbox", False, True, "with the GPU: " + "; ".join(wrong))
    if others:
        note = f"works, and shows {', '.join(others)} as well: AMD's runtime wants all that it sees"
        return VendorFinding(
            "sandbox", True, True, f"{note}; give it a container with its GPU alone"
        )
    return VendorFinding("sandbox", True, True, f"works, and shows {', '.join(given)} alone")


def _in_sandbox(access: GpuAccess) -> CommandResult:
    """Raises `SandboxUnavailable`, `CommandNotStarted`."""
    config = ZygoteConfig(
        Flavour.BARE,
        devices=access.devices,
        folders=access.folders,
        libraries=access.libraries,
        env=access.env,
    )
    zygote = Zygote.start(config)
    try:
        zygote.wait_ready(_START_S)
        client = RunnerClient(zygote.connect())
        client.filter = render_filter(access.alone)
        try:
            return run_command(client, ["python3", "-c", _PROBE], timeout_s=_PROBE_S)
        finally:
            client.close()
    finally:
        zygote.close()


def _judged(vendor: Vendor) -> VendorFinding:
    host = Host(lasting=False)
    try:
        result = host.judge(_example(vendor), lambda _event: None)
    finally:
        host.close()
    if result.verdict is not Verdict.ACCEPTED:
        why = result.failure.message if result.failure else result.verdict.value
        return VendorFinding("example", False, True, why)
    workload = result.phases[-1].workloads[-1]
    text = f"judged in {result.duration_s:.1f} s, timed at {workload.median_ns / 1000:.1f} us"
    return VendorFinding("example", True, True, text)


def _example(vendor: Vendor) -> JobSpec:
    """Bytes, which are read out of a runner's memory: a container may forbid just that.

    On AMD's GPUs torch is what runners reach the device by, so there it is to be loaded.
    """
    reference = (
        f"{'import torch' if vendor is Vendor.AMD else ''}\n"
        "def generate_input(size: int, seed: int):\n"
        "    return bytes((seed * i) % 251 for i in range(size))\n\n"
        "def check_implementation(data, output):\n"
        "    return output == bytes(sorted(data)), 'not sorted'\n"
    )
    problem = ProblemSpec(
        name="vendor-check",
        lang=Lang.PY,
        harness=HarnessKind.NATIVE,
        harness_reason="it needs no script",
        files=(SourceFile("reference.py", reference),),
        submission_name="submission.py",
        config=BuildConfig(),
        tests=(Case({"size": 10, "seed": 3}),),
        benchmarks=(Case({"size": 1000, "seed": 4}),),
    )
    program = SourceFile(
        "submission.py", "def custom_kernel(data):\n    return bytes(sorted(data))\n"
    )
    return JobSpec(
        "vendor-check",
        problem,
        program,
        Mode.BENCHMARK,
        DeviceSpec(vendor.name, vendor),
        sampling=SamplingRules(max_samples=20, min_total_s=0.0),
    )
