"""What compilers said, as existing clients read it."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace

from kernelbot.api.popcorn.stream import stream
from kernelbot.api.popcorn.submissions import error_text
from kernelbot.domain.states import SubmissionState
from kernelbot.preflight.model import Preflight
from kernelbot.preflight.rendering import short_text
from kernelbot.protocol import EventKind, Verdict
from kernelbot.submissions.model import Submission, SubmissionEvent
from tests.api.popcorn.test_submissions import WHEN, submission
from tests.support.preflights import PREFLIGHT, REFUSED


def found(verdict: Verdict, preflight: Preflight) -> Submission:
    return replace(submission(SubmissionState.FINISHED, verdict), preflights=(preflight,))


async def _events() -> AsyncIterator[SubmissionEvent]:
    said = short_text(PREFLIGHT) + "\x1b[2J"
    yield SubmissionEvent(1, 1, 1, "H100", False, EventKind.COMPILED, {"message": said}, WHEN)


async def test_a_stream_says_it_before_there_is_a_result_and_beside_it() -> None:
    one = found(Verdict.ACCEPTED, PREFLIGHT)

    async def final() -> Submission:
        return one

    frames = [frame async for frame in stream(one, _events(), final, heartbeat_s=60.0)]
    data = [json.loads(frame.partition("data: ")[2]) for frame in frames]
    said = [status["message"] for status in data if "message" in status]
    assert [f"H100: {short_text(PREFLIGHT)}\\x1b[2J"] == said[1:]
    assert short_text(PREFLIGHT) == data[-1]["reports"][-1]


def test_who_polls_reads_where_an_error_is() -> None:
    text = error_text(found(Verdict.COMPILE_ERROR, Preflight(REFUSED)))
    assert text is not None
    assert "✗ submission.cu:3: error: identifier" in text
