"""A stretch of a GPU's memory as a tensor, without copying."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class View:
    """Some of a device's memory, as this process sees it."""

    address: int
    size_bytes: int
    owner: object = None
    """Keeps it mapped."""


class _DeviceBytes:
    """Memory of a GPU in the words that torch understands."""

    def __init__(self, address: int, size_bytes: int, owner: object) -> None:
        self._owner = owner
        self.__cuda_array_interface__ = {
            "shape": (size_bytes,),
            "typestr": "|u1",
            "data": (address, False),
            "strides": None,
            "version": 3,
        }


def device_bytes(torch: Any, view: View, device: str) -> Any:
    """A flat tensor of bytes over all of a view."""
    lies_at = _DeviceBytes(view.address, view.size_bytes, view.owner)
    return torch.as_tensor(lies_at, device=device)
