"""A device as the harness knows it."""

from kernelbot.protocol import DeviceSpec, Mode, Vendor
from kernelbot.runs.devices.service import NOBODY, why_unavailable
from tests.support.world import World


async def test_it_is_found_by_its_own_name_alone(world: World) -> None:
    devices = world.services.devices
    expected = [DeviceSpec("H100", Vendor.NVIDIA, "90a"), None, None]
    assert expected == [devices.spec(name) for name in ("H100", "h100", "MI300")]


async def test_a_processor_has_no_gpus(world: World) -> None:
    found = await world.services.devices.list_devices()
    assert {"CPU": 0, "H100": 1} == {device.name: device.gpus for device in found}


async def test_where_no_worker_is_none_is_available(world: World) -> None:
    devices = world.services.devices
    found = await devices.list_devices()
    assert {("CPU", False, NOBODY), ("H100", False, NOBODY)} == {
        (one.name, one.available, one.note) for one in found
    }
    assert {"CPU": False, "H100": False} == (await devices.busyness()).available


async def test_how_busy_all_is_has_each_configured_device(world: World) -> None:
    await world.board()
    await world.submit(mode=Mode.TEST)
    found = await world.services.devices.busyness()
    assert {"CPU": 1, "H100": 0} == {name: load.queued for name, load in found.load.items()}
    assert ([], [], ["local"]) == (found.counts, found.workers, found.launchers)


async def test_why_a_device_cannot_be_used_is_what_those_say_that_serve_it(world: World) -> None:
    """Not those that serve another one; of several it is nothing, if one can use it."""
    async with world.database.write() as session:
        await session.do("INSERT INTO workers (owner, node, heartbeat_at) VALUES ('w', 'n', now())")
        await session.do("INSERT INTO workers (owner, node, heartbeat_at) VALUES ('v', 'n', now())")
        await session.do(
            "INSERT INTO worker_devices (owner, device, available, note) VALUES"
            " ('w', 'CPU', false, 'it is drained'), ('w', 'H100', true, ''),"
            " ('v', 'H100', false, 'it hangs')"
        )
        found = [await why_unavailable(session, name) for name in ("CPU", "H100", "B200")]
    assert ["it is drained", "", NOBODY] == found
