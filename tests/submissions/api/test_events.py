"""Streams of events, and how they end."""

from collections.abc import AsyncIterator, Sequence

import pytest

from kernelbot.domain.errors import KernelbotError, NotFound, Unavailable
from kernelbot.submissions.api.events import END, stream
from kernelbot.submissions.model import SubmissionEvent


async def _nothing_more(error: KernelbotError | None) -> AsyncIterator[Sequence[SubmissionEvent]]:
    for event in list[Sequence[SubmissionEvent]]():
        yield event
    if error is not None:
        raise error


async def _no_position() -> None:
    return None


@pytest.mark.parametrize(
    ("error", "sent"),
    [(None, [END]), (NotFound("It was deleted."), []), (Unavailable("The database is away."), [])],
)
async def test_a_stream_that_breaks_off_does_not_say_that_all_has_happened(
    error: KernelbotError | None, sent: list[str]
) -> None:
    batches = _nothing_more(error)
    frames = stream(batches, _no_position, heartbeat_s=60.0, queue_s=60.0)
    assert sent == [frame async for frame in frames]
