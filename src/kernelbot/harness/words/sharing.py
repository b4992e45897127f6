"""What NVIDIA's driver says of a GPU that others have, or share: each of its codes in a sentence.

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
"""By the driver's code."""
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
