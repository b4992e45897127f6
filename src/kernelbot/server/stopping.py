"""When a process of the platform is to stop."""

import asyncio
import signal


class StopRequests:
    """Requests to stop this process: SIGTERM, SIGINT and the end of its parent. They are counted
    from the beginning to the end of the process by one object: where one handler took the place of
    another, a signal in between would go to the first, which nobody asks any more."""

    def __init__(self, parent: int | None = None) -> None:
        """To be made within the event loop. `parent`: a descriptor that comes to its end with the
        parent; nothing is ever written there."""
        self.asked = asyncio.Event()
        """One has come."""
        self.insisted = asyncio.Event()
        """A second one has come."""
        loop = asyncio.get_running_loop()
        for signal_number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signal_number, self._count)
        if parent is not None:
            loop.add_reader(parent, self._orphaned, parent)

    def _count(self) -> None:
        (self.insisted if self.asked.is_set() else self.asked).set()

    def _orphaned(self, parent: int) -> None:
        asyncio.get_running_loop().remove_reader(parent)  # it stays readable
        self._count()
