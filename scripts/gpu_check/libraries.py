"""What GPU libraries ask of the system, tried in the sandbox that runners on this GPU get."""

from contextlib import closing

from kernelbot.harness.gpu.access import gpu_access
from kernelbot.harness.sandbox import RunnerClient, Zygote
from kernelbot.harness.words.sandbox import Flavour, ZygoteConfig
from kernelbot.protocol import Vendor
from kernelbot.render.table import table
from scripts.gpu_check.machine import Gpu
from scripts.gpu_check.needs import Rehearsed
from scripts.gpu_check.rehearsal import rehearse

_READY_S = 60.0


def check(_gpu: Gpu) -> bool:
    """Print what is refused to whom; whether every library can be used."""
    access = gpu_access(Vendor.NVIDIA)
    config = ZygoteConfig(
        Flavour.BARE,
        devices=access.devices,
        folders=access.folders,
        libraries=access.libraries,
        env=access.env,
    )
    with closing(Zygote.start(config)) as zygote:
        zygote.wait_ready(_READY_S)
        with closing(RunnerClient(zygote.connect())) as client:
            found = rehearse(client)
    print(table(("library", "asks to", "in the sandbox"), [_row(one) for one in found]))
    return not any(one.ends_the_library for one in found)


def _row(one: Rehearsed) -> tuple[str, str, str]:
    if not one.refusal:
        return one.library, one.action, "granted"
    end = "NO: it gives up" if one.is_fatal else "it goes another way"
    return one.library, one.action, f"refused ({one.refusal}): {end}"
