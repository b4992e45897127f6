"""Descriptors that a hostile process sends along: whoever closes one waits as long as it likes.

A socket lingers before it is closed for as long as its owner has set, and the close that lingers is
that of the last process that has it: ours, where the kernel drops what we never asked for.
"""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

MAX_AT_ONCE = 253
"""How many the kernel lets ride on one message; with less room it would close the rest, here."""
_SO_PASSRIGHTS = 83
_PATIENCE_S = 0.2


def refuse_descriptors(sock: socket.socket) -> None:
    """Have the kernel refuse whoever sends descriptors to `sock`. Nothing before Linux 6.16."""
    with suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, _SO_PASSRIGHTS, 0)


def close_apart(close: Callable[[], object]) -> None:
    """Close something that may linger. After a moment it goes on in a thread of its own, which
    ends with the process at the latest: nobody lingers who exits.
    """
    thread = threading.Thread(target=close, name="closing", daemon=True)
    thread.start()
    thread.join(_PATIENCE_S)
