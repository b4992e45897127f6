"""A submission's events as a stream of server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from kernelbot.domain.types import Event
from kernelbot.schemas.submissions import EventView

HEARTBEAT = ": still here\n\n"
END = "event: end\ndata: {}\n\n"
"""Tells a client that nothing more will come, as opposed to a connection that broke."""


def frame(event: Event) -> str:
    """One event. The data is JSON on a single line, so it can't end the frame."""
    return f"id: {event.id}\nevent: {event.kind}\ndata: {EventView.of(event).model_dump_json()}\n\n"


async def stream(events: AsyncIterator[Event], *, heartbeat_s: float) -> AsyncIterator[str]:
    """The frames of `events`, a comment after each `heartbeat_s` of silence, `END` at the end."""
    waiting = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait((waiting,), timeout=heartbeat_s)
            if not done:
                yield HEARTBEAT
                continue
            event = waiting.result()
            if event is None:
                yield END
                return
            yield frame(event)
            waiting = asyncio.ensure_future(anext(events, None))
    finally:
        # The client may have gone away in the middle: the listener must not outlive it.
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        if isinstance(events, AsyncGenerator):
            await events.aclose()
