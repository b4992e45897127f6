"""What a cluster's resources are as devices."""

import pytest

from kernelbot.launchers.ray import RayDevice
from kernelbot.protocol import DeviceSpec, Vendor
from kernelbot.server.ray_devices import RayOffer, offers, slots

CPU = DeviceSpec("CPU", Vendor.CPU)
MINE = DeviceSpec("h100", Vendor.NVIDIA, "90", clock_mhz=1500)
HEAD = {"node:__internal_head__": 1.0, "memory": 1e9}
H100 = {"CPU": 8.0, "GPU": 4.0, "accelerator_type:H100": 1.0}
MI300X = {"CPU": 2.0, "GPU": 8.0, "accelerator_type:AMD-Instinct-MI300X-OAM": 1.0}
UNTYPED = {"CPU": 1.0, "GPU": 1.0}


def found(*nodes: dict[str, float], configured: tuple[DeviceSpec, ...] = (CPU,)) -> list[RayOffer]:
    return list(offers(nodes, configured))


def test_gpus_are_found_by_the_names_of_their_types() -> None:
    cpu, h100, mi300x = found(HEAD, H100, MI300X)
    assert (CPU, RayDevice(0.0)) == (cpu.spec, cpu.asked)
    assert (DeviceSpec("H100", Vendor.NVIDIA, "90a"), {"accelerator_type:H100": 0.001}) == (
        h100.spec,
        h100.asked.resources,
    )
    assert ("MI300X", Vendor.AMD, "gfx942", 1.0) == (
        mi300x.spec.name,
        mi300x.spec.vendor,
        mi300x.spec.arch,
        mi300x.asked.num_gpus,
    )


def test_what_the_configuration_says_of_a_device_counts() -> None:
    assert [MINE, CPU] == [offer.spec for offer in found(H100, configured=(MINE, CPU))]


def test_what_no_node_has_is_not_offered() -> None:
    assert [] == found(HEAD)
    assert ["CPU"] == [offer.spec.name for offer in found(UNTYPED, configured=(CPU, MINE))]


@pytest.mark.parametrize(
    ("expected", "nodes"), [(12, [HEAD, H100]), (0, [HEAD]), (10 + 4 + 2, [H100, MI300X])]
)
def test_there_are_as_many_slots_as_nodes_have_room(
    expected: int, nodes: list[dict[str, float]]
) -> None:
    assert expected == slots(nodes, offers([H100, MI300X], (CPU,)))
