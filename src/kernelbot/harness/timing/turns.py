"""One measurement at a time on a machine, across all accounts and servers that judge there.

Processes that measure at the same time slow each other down even on processors of their own: they
share caches and the way to memory. So whoever measures holds the machine's turn, which is an
abstract Unix socket of a fixed name. Any account can take it, no file has to be there or to be
writable, and the system releases it if its holder dies. Whoever waits is connected to the holder's
socket, is woken by its end, and can ask the system who holds it.

A process can hold the turn and never measure. So nobody waits longer than `wait_s` for one job:
then they measure beside the holder, and say so. Authors' code can't reach the socket, since a
sandbox has a network of its own.
"""

import contextlib
import errno
import os
import select
import socket
import struct
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kernelbot.protocol.os_errors import in_words
from kernelbot.protocol.phases import LONGEST_TURN_WAIT_S

VARIABLE = "KERNELBOT_TURN"
"""Names the turn that is taken; if it is empty, none is taken."""
_USUAL_NAME = "kernelbot-turn"
_WAITING = 1024
"""So many can wait for a holder's end; others look again and again."""
_STEP_S = 0.1
_GLANCE_S = 0.01
_GIVE_WAY_S = 0.05
_CREDENTIALS = struct.Struct("3i")
_BESIDE = (
    "Another process kept this machine's turn to measure for too long, so this was measured beside "
    "it: times may be longer than they are alone."
)
_IMPOSSIBLE = "Measurements here can't take turns ({}): others may have made times longer."


def turn_name(environment: Mapping[str, str] = os.environ) -> str:
    """The name of the turn that this process takes; empty: none."""
    return environment.get(VARIABLE, _USUAL_NAME)


@dataclass
class Turn:
    """A turn that was taken, or not: then `note` says why, in a sentence."""

    waited_s: float
    note: str = ""
    wanted: bool = True
    """False: nobody is to be waited for here, see `Turns`."""
    _listener: socket.socket | None = None

    def release(self) -> None:
        """Let others measure. If some wait, return once one of them has the turn, at best: else
        whoever releases it would be the first to take it again."""
        if self._listener is None:
            return
        address, waiting = self._listener.getsockname(), _all_waiting(self._listener)
        self._listener.close()
        self._listener = None
        for connection in waiting:
            connection.close()
        until = time.monotonic() + _GIVE_WAY_S
        while waiting and time.monotonic() < until and not _is_held(address):
            time.sleep(_GLANCE_S / 10)


class Turns:
    """The turns of one host's jobs."""

    def __init__(self, name: str | None = None, wait_s: float = LONGEST_TURN_WAIT_S) -> None:
        """`name`: None: that of the environment; empty: no turn is taken, and
        all measure beside each other. `wait_s`: how long one
        job waits at most."""
        self._address = "\0" + name if (name := turn_name() if name is None else name) else ""
        self.wait_s = wait_s
        self._gave_up = False

    def take(
        self,
        wait_s: float,
        on_wait: Callable[[], None] = lambda: None,
        given_up: Callable[[], bool] = lambda: False,
    ) -> Turn:
        """Wait for the turn, `wait_s` at most; `on_wait` is called once if somebody has it.
        Returns without it if `given_up`, or if nobody could have it in time. After such a wait this
        host waits no more until it has found the turn free: whoever holds it for ever delays one
        job."""
        if not self._address:
            return Turn(0.0, wanted=False)
        start, holder = time.monotonic(), ""
        try:
            listener = _bound(self._address)
            if listener is None and not self._gave_up:
                on_wait()
                while listener is None and time.monotonic() < start + wait_s and not given_up():
                    holder = _await_end(self._address, start + wait_s) or holder
                    listener = _bound(self._address)
        except OSError as error:
            return Turn(time.monotonic() - start, _IMPOSSIBLE.format(in_words(error)))
        if not given_up():
            self._gave_up = listener is None
        if listener is None:
            sys.stderr.write(f"{holder or _holder(self._address)} keeps the turn to measure\n")
        note = _BESIDE if listener is None else ""
        return Turn(time.monotonic() - start, note, _listener=listener)

    def is_taken(self) -> bool:
        """Whether somebody measures on this machine now, as far as can be told."""
        return bool(self._address) and _is_held(self._address)


def _bound(address: str) -> socket.socket | None:
    """The turn; None if somebody has it."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(address)
        listener.listen(_WAITING)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return None
    return listener


def _connected(address: str) -> socket.socket | None:
    """A connection to the holder, which ends with the turn; None if there is none to be had: nobody
    holds it, too many wait, or the holder takes no connections."""
    waiting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    waiting.setblocking(False)
    try:
        waiting.connect(address)
    except OSError:
        waiting.close()
        return None
    return waiting


def _await_end(address: str, until: float) -> str:
    """Wait a moment, or until the holder's end if that comes before; returns who it is, empty if
    that is unknown."""
    waiting = _connected(address)
    if waiting is None:
        time.sleep(_GLANCE_S)
        return ""
    with contextlib.closing(waiting):
        left_s = min(until - time.monotonic(), _STEP_S)
        # What a holder sends, or the end of the connection alone, must not keep us busy.
        if _has_input(waiting, max(left_s, 0.0)) and _is_held(address):
            time.sleep(_GLANCE_S)
        return _peer(waiting)


def _holder(address: str) -> str:
    waiting = _connected(address)
    if waiting is None:
        return "a process that takes no connections"
    with contextlib.closing(waiting):
        return _peer(waiting)


def _peer(waiting: socket.socket) -> str:
    """Who has made the socket at the other end."""
    found = waiting.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _gid = _CREDENTIALS.unpack(found)
    return f"process {pid} of user {uid}"


def _is_held(address: str) -> bool:
    waiting = _connected(address)
    if waiting is None:
        return False
    waiting.close()
    return True


def _all_waiting(listener: socket.socket) -> list[socket.socket]:
    """The connections of those who still wait."""
    found = []
    with contextlib.suppress(OSError):  # there are no more
        while True:
            connection, _ = listener.accept()
            if _has_input(connection, 0.0):
                connection.close()
            else:
                found.append(connection)
    return found


def _has_input(connection: socket.socket, wait_s: float) -> bool:
    """Whether something was sent, or the other end has ended. Not by `select`, which takes no
    descriptors from 1,024 on: whoever likes can wait that many times."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(wait_s * 1000))
