"""The end of a stream, which may be large."""

import asyncio
from collections.abc import AsyncIterator

from kernelbot.api.popcorn.stream import stream
from kernelbot.domain.states import SubmissionState
from kernelbot.protocol import Verdict
from kernelbot.submissions.model import Submission, SubmissionEvent
from tests.api.popcorn.test_submissions import submission


async def _no_events() -> AsyncIterator[SubmissionEvent]:
    for event in list[SubmissionEvent]():
        yield event


async def test_others_are_answered_while_a_result_is_packed() -> None:
    one, others = submission(SubmissionState.FINISHED, Verdict.ACCEPTED), list[str]()

    async def final() -> Submission:
        asyncio.get_running_loop().call_soon(others.append, "answered")
        return one

    frames = [frame async for frame in stream(one, _no_events(), final, heartbeat_s=60.0)]
    assert (True, ["answered"]) == (frames[-1].startswith("event: result\n"), others)
