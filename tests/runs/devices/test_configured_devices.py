"""A device as the harness knows it."""

from kernelbot.protocol import DeviceSpec, Vendor
from tests.support.world import World


async def test_it_is_found_by_its_own_name_alone(world: World) -> None:
    devices = world.services.devices
    expected = [DeviceSpec("H100", Vendor.NVIDIA, "90a"), None, None]
    assert expected == [devices.spec(name) for name in ("H100", "h100", "MI300")]


async def test_a_processor_has_no_gpus(world: World) -> None:
    found = await world.services.devices.list_devices()
    assert {"CPU": 0, "H100": 1} == {device.name: device.gpus for device in found}
