"""When a process of the platform is to stop."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType

_ENDINGS = (signal.SIGTERM, signal.SIGHUP)
"""Besides SIGINT, by which Python ends in order anyway. SIGHUP comes when a terminal is closed."""


class StopRequests:
    """Requests to stop this process: SIGTERM, SIGINT, the end of its terminal and the end of its
    parent. They are counted for as long as the event loop runs by one object: where one handler
    took the place of another, a signal in between would go to the first, which nobody asks any
    more."""

    def __init__(self, parent: int | None = None) -> None:
        """To be made within the event loop. `parent`: a descriptor that comes to its end with the
        parent; nothing is ever written there."""
        self.asked = asyncio.Event()
        """One has come."""
        self.insisted = asyncio.Event()
        """A second one has come."""
        self._terminals = _terminals()
        loop = asyncio.get_running_loop()
        for signal_number in (signal.SIGINT, *_heard()):
            loop.add_signal_handler(signal_number, self._count, signal_number)
        if parent is not None:
            loop.add_reader(parent, self._orphaned, parent)

    def _count(self, signal_number: signal.Signals | None = None) -> None:
        if signal_number is signal.SIGHUP:
            _let_go_of(self._terminals)
        (self.insisted if self.asked.is_set() else self.asked).set()

    def _orphaned(self, parent: int) -> None:
        asyncio.get_running_loop().remove_reader(parent)  # it stays readable
        self._count()


@contextlib.contextmanager
def ended_in_order() -> Iterator[None]:
    """While the block runs, and there are no `StopRequests` yet, SIGTERM and the end of the
    terminal raise SystemExit, so that what has been started is ended; once, and what comes
    meanwhile does nothing."""
    before = {number: signal.getsignal(number) for number in _heard()}
    terminals = _terminals()

    def end(signal_number: int, _frame: FrameType | None) -> None:
        stay_undisturbed()
        if signal_number == signal.SIGHUP:
            _let_go_of(terminals)
        raise SystemExit(128 + signal_number)

    for number in before:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def stay_undisturbed() -> None:
    """From now on SIGTERM and the end of the terminal do nothing: this process is ending what it
    has started, and a shell tells of its end more than once."""
    for number in _heard():
        signal.signal(number, lambda *_: None)


def _heard() -> list[signal.Signals]:
    """Without those that this process was started to ignore, as `nohup` has it."""
    return [one for one in _ENDINGS if signal.getsignal(one) is not signal.SIG_IGN]


def _terminals() -> dict[int, os.stat_result]:
    """The standard descriptors that are one; of one that is gone nobody can tell."""
    return {number: os.fstat(number) for number in range(3) if os.isatty(number)}


def _let_go_of(terminals: dict[int, os.stat_result]) -> None:
    """Whoever writes to a terminal that is gone gets an error. What is another file by now, such as
    the log's, stays."""
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for number, terminal in terminals.items():
        with contextlib.suppress(OSError):  # somebody has closed it
            if os.path.samestat(terminal, os.fstat(number)):
                os.dup2(nowhere, number)
    os.close(nowhere)
