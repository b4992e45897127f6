"""Where a stream of events is resumed: the same for both clients."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from kernelbot.client.answers import parse
from kernelbot.client.errors import Refused
from kernelbot.client.sse import Frame
from kernelbot.domain.errors import KernelbotError

if TYPE_CHECKING:
    from kernelbot.runs.queue.model import QueuePosition
    from kernelbot.submissions.model import SubmissionEvent

OnQueue = Callable[["QueuePosition"], None]
OnBroken = Callable[[KernelbotError], None]
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 5.0


class FollowedEvents:
    """One submission's events, over as many connections as it takes."""

    def __init__(
        self, after: int, patience_s: float, on_queue: OnQueue | None, on_broken: OnBroken | None
    ) -> None:
        self.after = after
        """The id of the last event that was given."""
        self.is_over = False
        self._patience_s = patience_s
        self._on_queue = on_queue
        self._on_broken = on_broken
        self._pause_s = _FIRST_PAUSE_S
        self._give_up_s = time.monotonic() + patience_s
        self._failures = 0

    def opened(self) -> None:
        """There is a connection."""
        self._give_up_s, self._failures = time.monotonic() + self._patience_s, 0

    def events(self, frames: Iterable[Frame]) -> "Iterator[SubmissionEvent]":
        """The events of the frames that weren't given before, none twice, whatever the server sends
        again."""
        from kernelbot.runs.queue.model import QueuePosition
        from kernelbot.submissions.model import SubmissionEvent

        for frame in frames:
            self._pause_s = _FIRST_PAUSE_S  # not reset if streams end without any event
            if frame.event == "end":
                self.is_over = True
                return
            if frame.event == "queue" and self._on_queue:
                self._on_queue(parse(QueuePosition, frame.data))
            if frame.id is None:
                continue  # not part of the history
            event = parse(SubmissionEvent, frame.data)
            if event.id > self.after:
                self.after = event.id
                yield event

    def failed(self, error: KernelbotError) -> None:
        """The connection broke, or there was none. Raises the error if another try is of no
        use."""
        lasting = isinstance(error, Refused) and error.status < 500
        if lasting or time.monotonic() > self._give_up_s:
            raise error
        self._failures += 1
        if self._failures == 2 and self._on_broken:
            self._on_broken(error)

    def next_pause_s(self) -> float:
        """How long to wait before the next connection."""
        pause_s = self._pause_s
        self._pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        return pause_s
