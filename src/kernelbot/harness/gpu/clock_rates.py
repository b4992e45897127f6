"""A GPU's clock, set from outside the sandbox, by whoever may: the machine's root.

Which lock an operator has set can't be asked for, so it can't be put back either. Hence what is to
be in force is configured, and is set again before each job.
"""

from pathlib import Path

from kernelbot.harness.gpu.asking import ask
from kernelbot.harness.gpu.nodes import GpuNode
from kernelbot.harness.inside.gpu.driver import GpuError
from kernelbot.protocol import Vendor

UNLOCKED = 0
_AMD_LEVEL = "sys/class/drm/{name}/device/power_dpm_force_performance_level"


def set_clock(vendor: Vendor, gpu: GpuNode, mhz: int, root: Path = Path("/")) -> None:
    """Lock the GPU's clock; `UNLOCKED`: release it. Raises `GpuError` if that can't be done."""
    if vendor is Vendor.NVIDIA:
        done, said = lock_nvidia(gpu, mhz) if mhz else release_nvidia(gpu)
        if not done:
            raise GpuError(f"its clock can't be set: nvidia-smi said: {said}")
    elif mhz:
        raise GpuError("the clock of AMD's GPUs can be released, not locked: set clock_mhz to 0")
    else:
        _release_amd(root / _AMD_LEVEL.format(name=Path(gpu.path).name))


def lock_nvidia(gpu: GpuNode, mhz: int) -> tuple[bool, str]:
    """Whether it is locked, and what the tool said."""
    return ask("nvidia-smi", which(gpu), f"--lock-gpu-clocks={mhz},{mhz}")


def release_nvidia(gpu: GpuNode) -> tuple[bool, str]:
    """Whether it is released, and what the tool said."""
    return ask("nvidia-smi", which(gpu), "--reset-gpu-clocks")


def which(gpu: GpuNode) -> str:
    """How nvidia-smi is told of a GPU."""
    return f"--id={gpu.uuid or gpu.path.removeprefix('/dev/nvidia')}"


def _release_amd(level: Path) -> None:
    try:
        level.write_text("auto")
    except OSError as error:
        raise GpuError(f"its clock can't be set: {level}: {error.strerror}") from error
