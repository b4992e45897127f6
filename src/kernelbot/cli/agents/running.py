"""The tool that judges on this machine, without a server."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path, PurePath
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field, ValidationError

from kernelbot.cli.agents.answers import RunReport, shortened
from kernelbot.cli.agents.tools import answering
from kernelbot.protocol import Mode, RunResult
from kernelbot.runs.report import ResultView
from kernelbot.schemas.values import from_json
from kernelbot.submissions.source import source_text


async def run_locally(
    ctx: Context,
    problem_folder: Annotated[str, Field(description="The path of a folder with a task.yml.")],
    source: Annotated[str, Field(description="The whole file to judge.")],
    file_name: Annotated[str, Field(description="Its name, such as mine.py.")],
    mode: Annotated[Mode, Field(description="test or benchmark, mostly.")] = Mode.TEST,
) -> RunReport:
    """Judge a file on this machine against a problem's folder, in a sandbox, without a server and
    without limits. The quickest way to see whether a kernel is right; times are this machine's."""
    with answering():
        content = source.encode("utf-8", "surrogatepass")
        source_text(content)
    with tempfile.TemporaryDirectory(prefix="kernelbot-") as folder:
        file = Path(folder) / _bare(file_name)
        await ctx.report_progress(0, 1, f"judging {file.name}")
        file.write_bytes(content)
        # A process of its own: it is ended if the call is cancelled, and nothing that it prints
        # gets between our messages.
        command = [sys.executable, "-P", "-m", "kernelbot.cli", "run", problem_folder, str(file)]
        done = await anyio.run_process(
            [*command, "--mode", mode, "--json"], stdin=subprocess.DEVNULL, check=False
        )
    return RunReport.of_local(_result(done.stdout.decode("utf-8", "replace")))


def _bare(file_name: str) -> str:
    """A name without folders. Raises `ToolError` if that isn't one."""
    name = PurePath(file_name).name
    if (
        name in ("", "..")
        or name != file_name
        or "\0" in name
        or len(name.encode("utf-8", "replace")) > 255
    ):
        raise ToolError("file_name must be a name without folders, such as mine.py.")
    return name


def _result(printed: str) -> RunResult:
    try:
        return from_json(ResultView, printed).to_result()
    except ValidationError:
        raise ToolError(_mistake(printed)) from None


def _mistake(printed: str) -> str:
    """What the command says that went wrong."""
    try:
        error = json.loads(printed)["error"]
        return f"{error['detail']} {error['hint']}".strip()
    except (ValueError, KeyError, TypeError):
        return f"kernelbot run failed: {shortened(printed)}"
