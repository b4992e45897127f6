"""A submission's events as a stream of server-sent events."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing

from kernelbot.domain.errors import NotAllowed, NotAuthenticated, NotFound, Unavailable
from kernelbot.runs.queue.model import DeviceQueuePosition, QueuePosition
from kernelbot.schemas.values import to_json
from kernelbot.submissions.model import SubmissionEvent
from kernelbot.submissions.pacing import paced

HEARTBEAT = ": still here\n\n"
END = "event: end\ndata: {}\n\n"
"""Tells a client that the stream is complete, and that the connection didn't break."""


def frame(event: SubmissionEvent) -> str:
    """One event. The data is JSON on a single line, so it can't end the frame."""
    data = to_json(SubmissionEvent, event).decode()
    return f"id: {event.id}\nevent: {event.kind}\ndata: {data}\n\n"


def queue_frame(queued: DeviceQueuePosition) -> str:
    """The place of a submission in the queue. It has no id: it isn't part of the history."""
    return f"event: queue\ndata: {to_json(QueuePosition, queued).decode()}\n\n"


async def stream(
    batches: AsyncIterator[Sequence[SubmissionEvent]],
    ask_position: Callable[[], Awaitable[DeviceQueuePosition | None]],
    *,
    heartbeat_s: float,
    queue_s: float,
    frame_of: Callable[[SubmissionEvent], str] = frame,
    queue_frame_of: Callable[[DeviceQueuePosition], str] = queue_frame,
) -> AsyncIterator[str]:
    """The frames of all events, those of a batch together, a comment after each `heartbeat_s` of
    silence, `END` at the end. Without `END` if the reader may no longer see it, it was deleted, or
    the database is away: whoever asks again is told why, or goes on.

    While the submission waits, `ask_position` is called after every `queue_s` of silence, and each
    change of the position is sent; once it is None it isn't called again.
    """
    silence = _Silence(ask_position, queue_frame_of, heartbeat_s, queue_s)
    try:
        async with aclosing(paced(batches, lambda: silence.pause_s)) as steps:
            async for batch in steps:
                if batch is not None:
                    silence.for_s = 0.0
                    yield "".join([frame_of(event) for event in batch])
                elif (said := await silence.broken()) is not None:
                    yield said
    except (NotAuthenticated, NotAllowed, NotFound, Unavailable):
        return
    yield END


class _Silence:
    """What is sent while nothing happens."""

    def __init__(
        self,
        ask_position: Callable[[], Awaitable[DeviceQueuePosition | None]],
        queue_frame_of: Callable[[DeviceQueuePosition], str],
        heartbeat_s: float,
        queue_s: float,
    ) -> None:
        self._ask_position = ask_position
        self._queue_frame_of = queue_frame_of
        self._heartbeat_s = heartbeat_s
        self._queue_s = queue_s
        self._last: int | None = None
        self._queued = True
        self.for_s = 0.0

    @property
    def pause_s(self) -> float:
        """How long to wait before asking again."""
        return min(self._queue_s, self._heartbeat_s) if self._queued else self._heartbeat_s

    async def broken(self) -> str | None:
        """The frame to send after a further `pause_s`; None: none yet."""
        self.for_s += self.pause_s
        if self._queued:
            queued = await self._ask_position()
            self._queued = queued is not None
            if queued is not None and queued.position != self._last:
                self._last, self.for_s = queued.position, 0.0
                return self._queue_frame_of(queued)
        if self.for_s < self._heartbeat_s:
            return None
        self.for_s = 0.0
        return HEARTBEAT
