"""A node, examined: each part that judging there stands on, and what to do where one is missing."""

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kernelbot.harness.gpu.nodes import Assigned, assigned_gpus, gpu_nodes
from kernelbot.harness.host.vendor import amd, node, nvidia, trial
from kernelbot.harness.host.vendor.finding import VendorFinding
from kernelbot.harness.judge.system import cpu_model, os_name
from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.protocol import PROTOCOL_VERSION, Vendor


@dataclass(frozen=True)
class WantedNode:
    """What the node is to be. `vendor` None: whatever it is."""

    vendor: Vendor | None = None
    gpus: int = 1
    may_set_clocks: bool = True


def examine_node(wanted: WantedNode) -> dict[str, Any]:
    """The report as one JSON document. `ok`: nothing that is needed is missing."""
    found = list(_findings(wanted))
    return {
        "ok": all(finding.ok or not finding.needed for finding in found),
        "host": platform.node(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "os": os_name(),
        "cpu": cpu_model(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "interpreter": sys.executable,
        "protocol_version": PROTOCOL_VERSION,
        "findings": [asdict(finding) for finding in found],
    }


def vendor_here(root: Path = Path("/")) -> Vendor:
    """By the files of the drivers."""
    if (root / "dev/nvidiactl").exists() or gpu_nodes(Vendor.NVIDIA, root):
        return Vendor.NVIDIA
    return Vendor.AMD if (root / "dev/kfd").exists() else Vendor.CPU


def _findings(wanted: WantedNode) -> Iterator[VendorFinding]:
    vendor = wanted.vendor or vendor_here()
    yield node.resources()
    yield node.container_runtime(vendor)
    yield from node.limits()
    if vendor is Vendor.CPU:
        yield VendorFinding("GPU", None, False, "there is no GPU here: jobs run on the processor")
        yield from trial.try_out(vendor, Assigned((), (), {}))
        return
    tool = nvidia if vendor is Vendor.NVIDIA else amd
    yield tool.driver()
    if vendor is Vendor.NVIDIA:
        yield nvidia.others()
    try:
        assigned = assigned_gpus(vendor)
    except SandboxUnavailable as error:
        yield VendorFinding("GPUs given", False, True, str(error))
        return
    yield _given(vendor, assigned, wanted.gpus)
    if not assigned.gpus:
        return
    if wanted.may_set_clocks:
        yield tool.clocks(assigned.gpus)
    yield from trial.try_out(vendor, assigned)


def _given(vendor: Vendor, assigned: Assigned, wanted: int) -> VendorFinding:
    names = ", ".join(gpu.uuid or gpu.path for gpu in assigned.gpus)
    number = len(assigned.gpus)
    if number == wanted:
        return VendorFinding("GPUs given", True, True, f"{number}: {names}")
    if number == 0:
        return VendorFinding("GPUs given", False, True, f"no {vendor.name} GPU can be opened here")
    variable = "CUDA_VISIBLE_DEVICES" if vendor is Vendor.NVIDIA else "ROCR_VISIBLE_DEVICES"
    advice = f"{number} instead of {wanted} ({names}): name those of one job in {variable}"
    return VendorFinding("GPUs given", False, True, advice)
