"""Whether the GPUs of this machine can be used: tried in a process of its own, whose context ends
with it, before the first job finds out."""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass

from kernelbot.harness.gpu.access import driver_found
from kernelbot.harness.host.own_command import harness_environment
from kernelbot.harness.inside.gpu.driver import GpuError, NoDriver
from kernelbot.harness.inside.gpu.timing import open_driver
from kernelbot.harness.words.sharing import mps_folder
from kernelbot.protocol import Vendor

_PROGRAM = "from kernelbot.harness.host.gpu_trial import main; main()"
_LIMIT_S = 60


@dataclass(frozen=True)
class Trial:
    """`works` None: there is no driver here. `note`: what was found, or what to do."""

    works: bool | None
    note: str


def try_gpus() -> Trial:
    """Make a context on the first GPU, as every process of a job does."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env={**harness_environment(), **driver_found(Vendor.NVIDIA)},
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Trial(False, f"the driver gave no answer within {_LIMIT_S} s")
    if done.returncode != 0:
        return Trial(False, f"a process that used the GPU ended with {done.returncode}")
    return Trial(**json.loads(done.stdout))


def main() -> None:
    """In that process: print a `Trial` as JSON."""
    print(json.dumps(asdict(_tried())))


def _tried() -> Trial:
    try:
        driver = open_driver()
        count, total = driver.count(), driver.memory_bytes()[1]
    except NoDriver:
        return Trial(None, "no driver of a GPU can be loaded: jobs run on the processor")
    except GpuError as error:
        return Trial(False, str(error))
    note = f"{count} can be used; the first has {total / (1 << 30):.0f} GiB"
    if mps_folder() is not None:
        note += "; MPS is running, stop it: echo quit | nvidia-cuda-mps-control"
    return Trial(True, note)
