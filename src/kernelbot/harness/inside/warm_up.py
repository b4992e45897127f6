"""What a fork does while it waits, so that nobody pays for it later: once, all that is dear the
first time, when code is mapped and data copied page by page. Nothing of it is seen afterwards.
"""

import contextlib
import copy
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any

from kernelbot.harness.data.channel import Channel
from kernelbot.harness.data.decode import decode
from kernelbot.harness.data.encode import encode
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.inside.cage.comparison import difference, likeness
from kernelbot.harness.words.runner_messages import Repeat, RunnerRequest

_NO_MODULES: frozenset[str] = frozenset()


def warm_up() -> None:
    """Compute with the framework that is loaded, if any, and carry and compare a value of it, as
    runner and cage do."""
    for value in _values():
        _carry(value)


def start_a_thread() -> None:
    """The first is dear as well. Only for a process that forks no more."""
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()


def _values() -> Iterator[Any]:
    """A value of each framework that is loaded."""
    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy")
    if torch is not None:
        given = torch.rand(4, generator=torch.Generator().manual_seed(0))
        torch.equal(given + given, given * 2)
        yield given
    elif numpy is not None:
        yield numpy.zeros(4) + 1


def _carry(value: Any) -> None:
    """Through shared memory and over a channel; and compare what comes out."""
    near, far = socket.socketpair()
    encoded = encode(value, _NO_MODULES)
    with near, far, contextlib.closing(SharedBuffer.create(encoded.size_bytes)) as buffer:
        encoded.copy_to(buffer)
        Channel(near).send(Repeat(encoded.skeleton), [buffer.fd])
        request, (fd,) = Channel(far).receive(RunnerRequest)
        with contextlib.closing(SharedBuffer.attach(fd)) as attached:
            assert isinstance(request, Repeat)
            carried, _ = decode(request.data, attached, _NO_MODULES)
            difference(copy.deepcopy(value), carried, likeness(value, _NO_MODULES))
