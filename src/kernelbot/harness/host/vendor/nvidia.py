"""NVIDIA's driver and clocks, by nvidia-smi."""

from collections.abc import Sequence

from kernelbot.harness.gpu.asking import ask
from kernelbot.harness.gpu.clock_rates import lock_nvidia, release_nvidia, which
from kernelbot.harness.gpu.nodes import GpuNode
from kernelbot.harness.host.vendor.finding import VendorFinding
from kernelbot.harness.words.sharing import mps_folder

_FIELDS = "name,driver_version,memory.total,compute_mode,persistence_mode,mig.mode.current"


def driver() -> VendorFinding:
    """What is there, as nvidia-smi tells it of the first GPU that it sees."""
    answered, line = ask("nvidia-smi", f"--query-gpu={_FIELDS}", "--format=csv,noheader")
    if not answered:
        return VendorFinding("driver", False, True, f"install NVIDIA's driver: {line}")
    name, version, memory, mode, persistence, *slices = (part.strip() for part in line.split(","))
    text = f"{name}, {memory}, driver {version}"
    if mode != "Default":
        advice = f"{text}; compute mode {mode} shuts out all processes of a job but one: "
        return VendorFinding("driver", False, True, f"{advice}nvidia-smi --compute-mode=DEFAULT")
    if slices == ["Enabled"]:
        text += "; sliced (MIG): give each slice to a container of its own"
    if persistence != "Enabled":
        text += "; nvidia-smi --persistence-mode=1 keeps it initialised between jobs"
    return VendorFinding("driver", True, True, text)


def others() -> VendorFinding:
    """Whether programs share the GPU by MPS."""
    folder = mps_folder()
    if folder is None:
        return VendorFinding("MPS", True, False, "isn't running")
    advice = "others' work is in the times; stop it: echo quit | nvidia-cuda-mps-control"
    return VendorFinding("MPS", False, False, f"is running ({folder}): {advice}")


def clocks(gpus: Sequence[GpuNode]) -> VendorFinding:
    """Tries it: each GPU's clock is locked to its highest, and released at once."""
    for gpu in gpus:
        answered, highest = ask(
            "nvidia-smi", which(gpu), "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits"
        )
        if not answered or not highest.isdecimal():
            return VendorFinding(
                "clocks", False, False, f"the highest clock isn't known: {highest}"
            )
        locked, said = lock_nvidia(gpu, int(highest))
        if not locked:
            return VendorFinding("clocks", False, False, f"can't be locked, so times vary: {said}")
        released, said = release_nvidia(gpu)
        if not released:
            return VendorFinding("clocks", False, False, f"locked, but not to be released: {said}")
    return VendorFinding("clocks", True, False, "can be locked: nvidia-smi --lock-gpu-clocks")
