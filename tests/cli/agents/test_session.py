"""A whole session of an agent: the SDK's own client, `kernelbot mcp`, a real server."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the tools for agents are an extra: no mcp")

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.protocol import Lang
from tests.support.live import LiveServer
from tests.support.ranked import ranked
from tests.support.terminal import COMMAND, Shell
from tests.support.workers import quick_settings, working


@asynccontextmanager
async def agent(shell: Shell) -> AsyncIterator["Agent"]:
    """A client of `kernelbot mcp`, started as an agent's program does."""
    environment = {**shell.environment, "PATH": os.environ["PATH"]}
    command = StdioServerParameters(
        command=sys.executable, args=[*COMMAND[1:], "mcp"], env=environment, cwd=shell.home
    )
    async with Client(command) as client:
        yield Agent(client)


class Agent:
    """Calls tools, and notes the progress that it was told of."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.progress: list[str] = []

    async def __call__(self, tool: str, **arguments: object) -> Any:
        """The structured answer of a tool."""
        done = await self.client.call_tool(tool, arguments, progress_callback=self._note)
        assert not done.is_error, done.content
        assert done.structured_content is not None
        return done.structured_content.get("result", done.structured_content)

    async def refusal(self, tool: str, **arguments: object) -> str:
        """What it says instead of an answer."""
        done = await self.client.call_tool(tool, arguments)
        assert done.is_error
        return "".join(getattr(part, "text", "") for part in done.content)

    async def _note(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append(f"{progress:g}/{total or 0:g} {message}")


async def submit(ask: Agent, source: str, mode: str) -> dict[str, Any]:
    """Submit and wait, as an agent does, first for no time at all."""
    sent = await ask("submit", board="sort", source=source, file_name="fast.py", mode=mode)
    early = await ask("wait_for_submission", submission_id=sent["submission_id"], timeout_s=0)
    assert (early["state"] in ("queued", "running")) is not early["is_over"]
    done: dict[str, Any] = await ask(
        "wait_for_submission", submission_id=sent["submission_id"], timeout_s=60
    )
    return done


async def test_an_agent_goes_from_the_boards_to_a_place(
    live: LiveServer, ada: Shell, tmp_path: Path
) -> None:
    live.call(live.world.board())
    async with (
        working(quick_settings(tmp_path / "data"), live.world.database.url),
        agent(ada) as ask,
    ):
        (board,) = await ask("list_boards")
        problem = await ask("read_problem", board=board["name"])
        wrong = await submit(ask, "# fake: wrong_answer\n", "test")
        profiled = await submit(ask, "# fake: sleep 0.3 accepted\n", "profile")
        profile = await ask("read_profile", submission_id=profiled["submission_id"])
        slow = await submit(ask, "# fake: accepted 1.0\n", "leaderboard")
        fast = await submit(ask, "# fake: accepted 0.5 0.4 0.6\n", "leaderboard")
        compared = await ask(
            "compare_submissions",
            first_id=slow["submission_id"],
            second_id=fast["submission_id"],
        )
        ranking = await ask("read_standings", board="sort")
        again = await ask("read_report", submission_id=fast["submission_id"])
    assert ("sort", ["CPU"], "Sort it.", "py", None, []) == tuple(
        board[key] for key in ("name", "devices", "about", "language", "difficulty", "tags")
    )
    assert "Sort it." == problem["statement"]
    assert ("wrong_answer", True) == (wrong["verdict"], wrong["runs"][0]["message"] is not None)
    assert "a table" == profile[0]["text"]
    assert "1/1 public run on CPU: finished" in ask.progress
    assert (0.5, 1, again) == (fast["score_s"], fast["place"], fast)
    assert "faster" == compared["workloads"][0]["second_is"]
    assert [("ada", fast["submission_id"])] == [
        (row["author"], row["submission_id"]) for row in ranking["standings"]
    ]
    assert [(False, 0), (True, 1)] == [(run["secret"], len(run["timings"])) for run in fast["runs"]]


@pytest.mark.exhaustive  # each run has test_an_agent_goes_from_the_boards_to_a_place
async def test_a_shared_rank_is_told_as_one(live: LiveServer, ada: Shell) -> None:
    world = live.world
    live.call(world.board())
    own, _ = (
        live.call(ranked(world, 1e-3, author=one.user, relative_error=0.05))
        for one in (world.ada, world.bob)
    )
    async with agent(ada) as ask:
        ranking = await ask("read_standings", board="sort")
        report = await ask("read_report", submission_id=own)
    assert [(1, True)] * 2 == [(row["rank"], row["shared"]) for row in ranking["standings"]]
    assert (1, True) == (report["place"], report["place_is_shared"])


@pytest.mark.exhaustive  # each run has test_an_agent_goes_from_the_boards_to_a_place
async def test_what_cannot_be_done_is_said_in_a_sentence(live: LiveServer, ada: Shell) -> None:
    for board in ("sort", "other"):
        live.call(live.world.board(board))
    sent = [live.call(live.world.submit(board=board)).id for board in ("sort", "other")]
    async with agent(ada) as ask:
        said = [
            await ask.refusal("read_problem", board="a'; echo x"),
            await ask.refusal("read_problem", board=".."),
            await ask.refusal("read_report", submission_id=BIGINT_MAX),
            await ask.refusal("read_report", submission_id=-1),
            await ask.refusal("read_report", submission_id=float("nan")),
            await ask.refusal("submit", board="sort", source="x" * (1 << 20 | 1), file_name="x.py"),
            await ask.refusal("submit", board="sort", source="x", file_name="x.cu"),
            await ask.refusal("run_locally", problem_folder="/", source="", file_name="../x.py"),
            await ask.refusal("run_locally", problem_folder="/", source="", file_name=".."),
            await ask.refusal("run_locally", problem_folder="/", source="", file_name=""),
            await ask.refusal("run_locally", problem_folder="no", source="", file_name="x.py"),
            await ask.refusal("no_such_tool"),
            await ask.refusal("compare_submissions", first_id=sent[0], second_id=sent[1]),
        ]
    assert [] == [text for text in said if not text or "Traceback" in text]
    assert "larger than 1 MiB" in said[5]
    assert "in Python" in said[6]
    assert all("a name without folders" in text for text in said[7:10])
    assert "different boards" in said[-1]


@pytest.mark.exhaustive
async def test_a_file_is_judged_on_this_machine(tmp_path: Path) -> None:
    from kernelbot.catalog.skeleton import new_problem

    new_problem(tmp_path / "sums", "sums", Lang.PY)
    source = (tmp_path / "sums" / "submission.py").read_text()
    async with agent(Shell(tmp_path, {"KERNELBOT_URL": "http://127.0.0.1:1"})) as ask:
        report = await ask("run_locally", problem_folder="sums", source=source, file_name="mine.py")
        unreachable = await ask.refusal("list_boards")
    assert ("accepted", True) == (report["verdict"], report["passed_cases"] > 0)
    assert "can't be reached" in unreachable
    assert len(json.dumps(report)) < 5000
