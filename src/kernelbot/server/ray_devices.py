"""What a Ray cluster has, as devices: by the names of its resources."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kernelbot.launchers.ray import RayDevice
from kernelbot.preflight.gpus import NAMES, find_gpu
from kernelbot.protocol import DeviceSpec, Vendor

_ACCELERATOR = "accelerator_type:"
_SOME = 0.001
"""What a task asks of a resource that marks a node."""


@dataclass(frozen=True)
class RayOffer:
    """A device of the cluster's, and what its tasks ask for."""

    spec: DeviceSpec
    asked: RayDevice


def offers(
    nodes: Sequence[Mapping[str, float]], configured: Iterable[DeviceSpec]
) -> tuple[RayOffer, ...]:
    """The configured devices that a node has, in their order; then GPUs that Ray names and our
    table of GPUs has. A CPU is a processor; a GPU is one of Ray's type that has the device's name
    in it: `MI300X` is `AMD-Instinct-MI300X-OAM`."""
    types = {name for node in nodes for name in node if name.startswith(_ACCELERATOR)}
    devices = list(configured)
    named = {device.name.casefold() for device in devices}
    devices += [_known(name) for name in NAMES if name.casefold() not in named]
    found = [RayOffer(device, asked) for device in devices if (asked := _asked(device, types))]
    return tuple(offer for offer in found if slots(nodes, (offer,)))


def slots(nodes: Sequence[Mapping[str, float]], found: Iterable[RayOffer]) -> int:
    """How many tasks of these devices the nodes have room for at once."""
    return sum(_room(node, offer.asked) for node in nodes for offer in found)


def _room(node: Mapping[str, float], asked: RayDevice) -> int:
    return int(min(node.get(name, 0.0) // amount for name, amount in asked.asked().items()))


def _asked(device: DeviceSpec, types: Iterable[str]) -> RayDevice | None:
    """None: no node is said to have such a GPU."""
    if device.vendor is Vendor.CPU:
        return RayDevice(0.0)
    for name in sorted(types):
        if device.name.casefold() in _words(name):
            return RayDevice(1.0, resources={name: _SOME})
    return None


def _words(resource: str) -> set[str]:
    whole = resource.removeprefix(_ACCELERATOR).casefold()
    return {whole, *whole.split("-")}


def _known(name: str) -> DeviceSpec:
    gpu = find_gpu(name)
    return replace(DeviceSpec(name, gpu.vendor), arch=gpu.arch)
