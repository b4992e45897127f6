"""The GPU that is checked: what it is, and whether runners will be able to use it."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

from kernelbot.harness.words.sharing import mps_folder
from kernelbot.protocol import DeviceSpec, Vendor
from kernelbot.render.table import table

_FIELDS = (
    "name",
    "driver_version",
    "compute_cap",
    "memory.total",
    "clocks.sm",
    "clocks.max.sm",
    "clocks.mem",
    "temperature.gpu",
    "power.draw",
    "compute_mode",
    "persistence_mode",
    "mig.mode.current",
)
_PROBE = """
import json, subprocess, time
found = {}
try:
    import torch
    found["torch"] = torch.__version__
    found["torch's CUDA"] = torch.version.cuda
    from kernelbot.harness.inside.gpu.timing import open_gpu
    start = time.perf_counter()
    open_gpu()
    found["context made in"] = f"{time.perf_counter() - start:.2f} s"
    square = torch.ones(4096, 4096, device="cuda")
    until = time.monotonic() + 1
    while time.monotonic() < until:
        square @ square
    query = ["nvidia-smi", "--query-gpu=clocks.sm", "--format=csv,noheader"]
    found["clocks.sm, busy"] = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    properties = torch.cuda.get_device_properties(0)
    found["L2 cache"] = f"{properties.L2_cache_size >> 20} MiB"
    found["multiprocessors"] = properties.multi_processor_count
except Exception as error:
    found["error"] = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""
_PROBE_S = 120
_FIRST_WITH_SPECIALS = 9.0


@dataclass(frozen=True)
class Gpu:
    """The first GPU as nvidia-smi tells it. `arch` is nvcc's name, such as `90a`."""

    name: str
    arch: str

    @property
    def device(self) -> DeviceSpec:
        """As a job names it. No roofline: nobody has measured one here."""
        return DeviceSpec(self.name.replace(" ", "-"), Vendor.NVIDIA, arch=self.arch)


def find_gpu() -> Gpu | None:
    """None if there is no NVIDIA GPU, or no driver for it."""
    said = _ask("name,compute_cap")
    return None if said is None else parse_gpu(said)


def parse_gpu(text: str) -> Gpu | None:
    """The first line of nvidia-smi's `name, compute_cap`; None if there is no such line."""
    first = next(iter(text.splitlines()), "")
    name, comma, capability = (part.strip() for part in first.rpartition(","))
    if not comma or not capability.replace(".", "").isdigit():
        return None
    # From Hopper on, a generation's special instructions come with the `a` alone.
    suffix = "a" if float(capability) >= _FIRST_WITH_SPECIALS else ""
    return Gpu(name, capability.replace(".", "") + suffix)


def check(_gpu: Gpu) -> bool:
    """Print what it is; whether runners can use it."""
    facts = dict(zip(_FIELDS, _first_line(_ask(",".join(_FIELDS)) or ""), strict=False))
    probed = _probe()
    error = probed.pop("error", None)
    rows = [(name, str(value)) for name, value in {**facts, **probed}.items()]
    print(table(("what", "value"), rows))
    wrong = complaints(facts, probed, error)
    for complaint in wrong:
        print(f"NO: {complaint}")
    return not wrong


def complaints(facts: dict[str, str], probed: dict[str, object], error: object) -> list[str]:
    """What keeps submissions from being judged here, each with what to do."""
    found = []
    if facts.get("compute_mode", "Default") != "Default":
        found.append(
            f"compute mode {facts['compute_mode']}: judge, author and control runner each need a "
            "context; "
            "set it by nvidia-smi --compute-mode=DEFAULT"
        )
    if (folder := mps_folder()) is not None:
        found.append(
            f"MPS is running ({folder}): nobody here is its client, but others' work on the GPU is "
            "in the times; stop it by: echo quit | nvidia-cuda-mps-control"
        )
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    if facts.get("mig.mode.current") == "Enabled" and not chosen.startswith("MIG-"):
        found.append(
            "the GPU is sliced (MIG), and CUDA_VISIBLE_DEVICES names no slice, so that processes "
            "would take the first; name one as nvidia-smi -L shows it: MIG-..."
        )
    if "torch" in probed and probed.get("torch's CUDA") is None:
        found.append("this torch is built for CPUs only; install the build for your CUDA")
    if error is not None:
        found.append(f"a process couldn't use the GPU: {error}")
    if shutil.which("nvcc") is None:
        found.append("nvcc is missing: install the CUDA toolkit, or add its bin folder to PATH")
    return found


def _first_line(text: str) -> list[str]:
    return [part.strip() for part in next(iter(text.splitlines()), "").split(",")]


def _ask(fields: str) -> str | None:
    if shutil.which("nvidia-smi") is None:
        return None
    query = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"]
    done = subprocess.run(query, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def _probe() -> dict[str, object]:
    """In a process of its own, whose context ends with it."""
    done = subprocess.run(
        [sys.executable, "-c", _PROBE],
        capture_output=True,
        text=True,
        check=False,
        timeout=_PROBE_S,
    )
    if done.returncode != 0:
        return {"error": done.stderr.strip()[-500:] or f"it ended with {done.returncode}"}
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found
