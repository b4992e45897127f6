"""The tools of agents. Each asks the server one thing, with the caller's token: what they may do
and how often, the server decides as for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Annotated

import anyio
import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field, ValidationError

from kernelbot.cli.agents.answers import (
    Board,
    Problem,
    ProfileText,
    Ranking,
    SubmissionReport,
    is_over,
    profiles,
)
from kernelbot.cli.agents.comparing import Comparison, compare
from kernelbot.client import KernelbotClient
from kernelbot.domain.errors import KernelbotError
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.protocol import Mode
from kernelbot.render.advice import error_text
from kernelbot.schemas.mistakes import what_is_wrong
from kernelbot.submissions.model import SubmissionView
from kernelbot.submissions.source import source_text

_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 2.0

Connect = Callable[[Context], AbstractContextManager[KernelbotClient]]
"""The client with the token of whoever calls."""

BoardName = Annotated[str, Field(description="A board's name, as list_boards says it.")]
SubmissionId = Annotated[
    int, Field(ge=1, le=BIGINT_MAX, description="The number that submit answered.")
]


class Tools:
    """The tools that a server and a token are enough for."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    def list_boards(self, ctx: Context) -> list[Board]:
        """List the leaderboards that you can submit to, with their devices and deadlines. Begin
        here; then call read_problem."""
        with answering(), self._connect(ctx) as client:
            return [Board.from_named_board(board) for board in client.boards().boards]

    def read_problem(self, ctx: Context, board: BoardName) -> Problem:
        """Read what a board wants solved: the statement, the language, and a complete starter file.
        A submission is one file that defines what the starter defines."""
        with answering(), self._connect(ctx) as client:
            return Problem.from_statement(client.problem(board))

    def submit(
        self,
        ctx: Context,
        board: BoardName,
        source: Annotated[str, Field(description="The whole file.")],
        file_name: Annotated[
            str, Field(description="Its name; it must end as read_problem's file_name does.")
        ],
        mode: Annotated[
            Mode,
            Field(
                description="test: correctness only, the quickest; benchmark: also times; "
                "profile: correctness and a profile; leaderboard: times on secret data, ranked."
            ),
        ] = Mode.TEST,
        device: Annotated[
            str | None, Field(description="One of the board's devices; null: its only one.")
        ] = None,
    ) -> SubmissionReport:
        """Submit a file to a board. It is judged in the background: call wait_for_submission next.
        Try mode test first. A board may limit how many submissions you make in an hour; then this
        says when to try again."""
        with answering(), self._connect(ctx) as client:
            content = source.encode("utf-8", "surrogatepass")
            source_text(content)  # a file that the server would refuse needn't be sent
            devices = () if device is None else (device,)
            sent = client.submit(file_name, content, board=board, devices=devices, mode=mode)
            return SubmissionReport.from_submission(sent)

    async def wait_for_submission(
        self,
        ctx: Context,
        submission_id: SubmissionId,
        timeout_s: Annotated[float, Field(ge=0, le=600, description="At most so long.")] = 60.0,
    ) -> SubmissionReport:
        """Wait until a submission is judged, and report it: verdict, first failing case, timings,
        score. If is_over is false, the time was over first: call it again, nothing is lost."""
        deadline_s = anyio.current_time() + timeout_s
        pause_s, said = _FIRST_PAUSE_S, ""
        while True:
            found = await anyio.to_thread.run_sync(self._submission, ctx, submission_id)
            if (text := _progress_text(found)) != said:
                await ctx.report_progress(_ended(found), len(found.runs), text)
                said = text
            left_s = deadline_s - anyio.current_time()
            if is_over(found) or left_s <= 0:
                return SubmissionReport.from_submission(found)
            await anyio.sleep(min(pause_s, left_s))
            pause_s = min(1.5 * pause_s, _LONGEST_PAUSE_S)

    def read_report(self, ctx: Context, submission_id: SubmissionId) -> SubmissionReport:
        """Read the report of a submission as it is now, without waiting."""
        return SubmissionReport.from_submission(self._submission(ctx, submission_id))

    def read_profile(self, ctx: Context, submission_id: SubmissionId) -> list[ProfileText]:
        """Read what profilers wrote of a submission that was made in mode profile: where its time
        goes. Empty if it left none."""
        return profiles(self._submission(ctx, submission_id))

    def compare_submissions(
        self, ctx: Context, first_id: SubmissionId, second_id: SubmissionId
    ) -> Comparison:
        """Compare the timings of two submissions to a board, workload by workload. Where intervals
        overlap the answer is "can't tell": a small difference of two measurements is noise."""
        first = self._submission(ctx, first_id)
        second = self._submission(ctx, second_id)
        if first.board != second.board:
            raise ToolError("They are of different boards, so their times can't be compared.")
        return compare(first, second)

    def read_standings(
        self,
        ctx: Context,
        board: BoardName,
        device: Annotated[str | None, Field(description="Null: the board's first.")] = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 10,
    ) -> Ranking:
        """Read a board's ranking on one device, the best first."""
        with answering(), self._connect(ctx) as client:
            return Ranking.from_page(client.standings(board, device, limit=limit))

    def _submission(self, ctx: Context, submission_id: int) -> SubmissionView:
        with answering(), self._connect(ctx) as client:
            return client.submission(submission_id)


@contextmanager
def answering() -> Iterator[None]:
    """Errors of ours become the tool's: what happened, and what to do next."""
    try:
        yield
    except KernelbotError as error:
        raise ToolError(error_text(error)) from error
    except ValidationError as error:
        mistake = error.errors()[0]
        key = ".".join(str(part) for part in mistake["loc"])
        raise ToolError(f"{key}: {what_is_wrong(mistake)}.") from error


def _ended(found: SubmissionView) -> int:
    return sum(run.finished_at is not None for run in found.runs)


def _progress_text(found: SubmissionView) -> str:
    if found.queue_position is not None:
        return f"position {found.queue_position} in the queue"
    states = [f"{'secret' if run.secret else 'public'} run on {run.device}" for run in found.runs]
    return ", ".join(f"{name}: {run.state}" for name, run in zip(states, found.runs, strict=True))
