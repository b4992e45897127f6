"""Ranks that meet and add up: enough of a framework's `distributed` for problems of tests.

Copied into a problem beside `tensors.py`, and imported by its `task.py`. Rank 0 hears from all
others, and tells them the sum.
"""

import os
import socket
import sys
import time
from typing import Any

import numpy as np
import tensors  # type: ignore[import-not-found]  # it lies beside this file in a problem

sys.modules[f"{tensors.NAME}.distributed"] = sys.modules[__name__]
_PATIENCE_S = 60
_others: list[socket.socket] = []
_place = [0, 1]


def init_process_group(
    _backend: str, init_method: str, rank: int, world_size: int, **_options: Any
) -> None:
    """On GPUs only: `device_id` is expected among the options."""
    _place[:] = rank, world_size
    if rank == 0:
        listening = _listening(init_method)
        _others.extend(listening.accept()[0] for _ in range(world_size - 1))
    else:
        _others.append(_connected(init_method))


def _address(init_method: str) -> tuple[int, Any]:
    if init_method.startswith("file://"):
        return socket.AF_UNIX, init_method.removeprefix("file://")
    return socket.AF_INET, (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))


def _listening(init_method: str) -> socket.socket:
    family, address = _address(init_method)
    made = socket.socket(family)
    made.bind(address)
    made.listen()
    return made


def _connected(init_method: str) -> socket.socket:
    family, address = _address(init_method)
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        made = socket.socket(family)
        try:
            made.connect(address)
        except OSError:
            made.close()
            if time.monotonic() > deadline:
                raise RuntimeError("rank 0 isn't there") from None
            time.sleep(0.01)
        else:
            return made


def get_rank() -> int:
    return _place[0]


def get_world_size() -> int:
    return _place[1]


def new_group() -> None:
    return None


def barrier(_group: None = None) -> None:
    _sum(np.zeros(1, np.float32))


def all_reduce(tensor: tensors.Tensor) -> None:
    """In place."""
    tensor.numpy()[...] = _sum(tensor.numpy())


def _sum(mine: np.ndarray) -> np.ndarray:
    if _place[0]:
        _others[0].sendall(mine.tobytes())
        return _received(_others[0], mine)
    total = mine.copy()
    for other in _others:
        total += _received(other, mine)
    for other in _others:
        other.sendall(total.tobytes())
    return total


def _received(sock: socket.socket, like: np.ndarray) -> np.ndarray:
    data = bytearray()
    while len(data) < like.nbytes:
        more = sock.recv(like.nbytes - len(data))
        if not more:
            raise RuntimeError("a rank has ended")
        data += more
    return np.frombuffer(data, like.dtype).reshape(like.shape)
