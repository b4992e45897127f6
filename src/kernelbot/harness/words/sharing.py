"""What drivers say of a GPU that can't be had, as others have or share it, or the machine isn't set
up: each of their codes in a sentence.

None of it is an author's doing. NVIDIA's Multi-Process Service (MPS) lets processes compute at the
same time, in one context of its server's; the fault of one ends the work of all. So nobody here is
its client: judges are kept from its daemon, and runners can't reach it.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from kernelbot.protocol import Vendor

_PIPES = "CUDA_MPS_PIPE_DIRECTORY"
_USUAL = "/tmp/nvidia-mps"  # noqa: S108 (where NVIDIA's daemon listens if nobody says otherwise)
_NOWHERE = "/nonexistent/mps"
"""A client that finds no daemon works as without MPS."""
_STOP = "Stop it: echo quit | nvidia-cuda-mps-control"
UNAVAILABLE: Mapping[int, str] = {
    46: (
        "another process has the GPU: its compute mode lets in one alone. Set it: "
        "nvidia-smi --compute-mode=DEFAULT"
    ),
    100: (
        "the driver shows this process no GPU. CUDA_VISIBLE_DEVICES may name one, or a slice of "
        "one (MIG), that isn't there any more: compare it with nvidia-smi -L"
    ),
    802: (
        "the GPUs are joined by NVSwitch, and NVIDIA's fabric manager hasn't set that up. Start "
        "it, of the driver's very version: systemctl start nvidia-fabricmanager"
    ),
    803: (
        "the driver's library is of another version than the module in the kernel, as after an "
        "upgrade. Restart the machine"
    ),
    804: (
        "the driver's library is that of the package cuda-compat, which this GPU doesn't take. "
        "Remove its folder (usually /usr/local/cuda/compat) from LD_LIBRARY_PATH, or use an image "
        "of an older CUDA"
    ),
    805: f"NVIDIA's MPS is set up here, and its daemon or server doesn't answer. {_STOP}",
    806: f"NVIDIA's MPS server failed while it worked for this process. {_STOP}",
    807: (
        "NVIDIA's MPS server takes nobody in at the moment: it is starting, or recovering from the "
        f"fault of another client. {_STOP}"
    ),
    808: f"NVIDIA's MPS server has as many clients as it can. {_STOP}",
    809: f"NVIDIA's MPS server has as many connections to the GPU as it can. {_STOP}",
    810: (
        "NVIDIA's MPS server has ended this process's work on the GPU, by an order or for the "
        f"fault of another client. {_STOP}"
    ),
}
"""By the code of NVIDIA's driver."""
_NO_GPU_OF_AMDS = (
    "AMD's runtime finds no GPU that it can use. It must be able to open /dev/kfd and the file in "
    "/dev/dri of each GPU that the kernel lets it see (groups render and video; a container needs "
    "a device control group that hides the others, as docker run --device makes one). And "
    "ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES or CUDA_VISIBLE_DEVICES may name one that is gone"
)
UNAVAILABLE_AMDS: Mapping[int, str] = {100: _NO_GPU_OF_AMDS, 101: _NO_GPU_OF_AMDS}
"""By the code of AMD's runtime."""
_OF_HARDWARE = frozenset({214, 220, 226})
"""Uncorrectable memory (ECC), NVLink, an error contained to one process: no kernel's doing."""
_OF_MPS = frozenset(range(805, 811))
MPS_NOTE = (
    "NVIDIA's MPS is running beside this job, so the times may contain other programs' work. "
    f"{_STOP}"
)


def mps_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Where a daemon of MPS listens; None if there is none."""
    folder = Path(environment.get(_PIPES, _USUAL))
    return folder if (folder / "control").exists() else None


def apart_from_mps(vendor: Vendor, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What keeps a process from being a client of a daemon that is running; nothing if none is."""
    if vendor is not Vendor.NVIDIA or mps_folder(environment) is None:
        return {}
    return {_PIPES: _NOWHERE}


def is_hardware_fault(code: object) -> bool:
    """Whether the driver's code, as a runner tells it, would be a failure of the GPU's that need
    not reach other processes."""
    return type(code) is int and code in _OF_HARDWARE


def excuse(code: object, environment: Mapping[str, str] = os.environ) -> str | None:
    """Why a runner's work may have been ended by MPS, if that can be: `code` is what it says the
    driver says. None if no daemon is running, for then it is a lie."""
    if type(code) is not int or code not in _OF_MPS or environment.get(_PIPES) != _NOWHERE:
        return None
    return UNAVAILABLE[code]
