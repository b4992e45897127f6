"""Whose idle time compiles for which GPUs."""

from dataclasses import replace

import pytest

from kernelbot.protocol import DeviceSpec, Vendor
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.runs.devices.preflighting import idle_preflights

GPU = DeviceConfig(DeviceSpec("H100", Vendor.NVIDIA, "90a"), ("far",))
CPU = DeviceConfig(DeviceSpec("CPU", Vendor.CPU), ("far", "local"))
FAR = DeviceConfig(DeviceSpec("Far", Vendor.CPU), ("far",))


def test_the_first_cpu_of_this_machine_compiles() -> None:
    second = replace(CPU, spec=replace(CPU.spec, name="Second"))
    found = idle_preflights((FAR, GPU, CPU, second), {"local"})
    assert ((GPU,), CPU) == (found.devices, found.builder)


@pytest.mark.parametrize("other", [FAR, replace(CPU, builds_on="Far")])
def test_no_other_cpu_compiles(other: DeviceConfig) -> None:
    assert idle_preflights((GPU, other), {"local"}).builder is None


@pytest.mark.parametrize("gpu", [replace(GPU, builds_on="CPU"), replace(GPU, preflight=False)])
def test_a_gpu_with_a_builder_or_that_wants_none_has_no_such_report(gpu: DeviceConfig) -> None:
    assert () == idle_preflights((gpu, CPU), {"local"}).devices
