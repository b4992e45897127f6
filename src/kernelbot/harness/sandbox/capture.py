"""What an author's program prints: read as it comes, kept within bounds."""

import os
import select
import threading
from collections.abc import Callable


class OutputCapture:
    """One stream's text: the beginning and the end are kept, the middle is cut out with a note."""

    def __init__(self, kept_bytes: int, limit_bytes: int) -> None:
        self._half = max(kept_bytes // 2, 1)
        self._limit_bytes = limit_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self._lock = threading.Lock()
        self.total_bytes = 0
        """How much was printed, kept or not."""

    @property
    def overflowed(self) -> bool:
        """Whether more than the limit was printed."""
        return self.total_bytes > self._limit_bytes

    @property
    def text(self) -> str:
        """What was kept so far; a cut names the number of bytes left out."""
        with self._lock:
            head, tail = bytes(self._head), bytes(self._tail[-self._half :])
            left_out = self.total_bytes - len(head) - len(tail)
        if left_out <= 0:
            return (head + tail).decode(errors="replace")
        note = f"\n[... {left_out} bytes left out ...]\n"
        return head.decode(errors="replace") + note + tail.decode(errors="replace")

    def feed(self, block: bytes) -> None:
        """Take in what was read."""
        with self._lock:
            self.total_bytes += len(block)
            room = self._half - len(self._head)
            self._head += block[:room]
            self._tail += block[room:] if room > 0 else block
            if len(self._tail) > 4 * self._half:
                del self._tail[: -self._half]


class Drain:
    """A thread that reads pipes into their captures until every writer is gone."""

    def __init__(self, streams: dict[int, OutputCapture], on_overflow: Callable[[], None]) -> None:
        """Owns the descriptors from here on. `on_overflow` is called once, in the thread."""
        self._streams = streams
        self._on_overflow = on_overflow
        self._thread = threading.Thread(target=self._run, name="output", daemon=True)
        self._thread.start()

    def join(self, timeout_s: float) -> bool:
        """Wait until everything was read and the descriptors are closed; whether that happened."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        poll = select.poll()
        open_fds = set(self._streams)
        for fd in open_fds:
            poll.register(fd, select.POLLIN)
        has_called = False
        while open_fds:
            for fd, _ in poll.poll():
                block = os.read(fd, 1 << 16)
                self._streams[fd].feed(block)
                if not block:
                    poll.unregister(fd)
                    os.close(fd)
                    open_fds.discard(fd)
                elif self._streams[fd].overflowed and not has_called:
                    has_called = True
                    self._on_overflow()
