"""The server of the Model Context Protocol, over standard input and output or over HTTP."""

import asyncio
from contextlib import AbstractContextManager

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ToolAnnotations

from kernelbot import __version__
from kernelbot.cli.agents.running import run_locally
from kernelbot.cli.agents.tools import Tools
from kernelbot.client import Endpoint, KernelbotClient
from kernelbot.domain.listening import listen

_INSTRUCTIONS = (
    "Competitions for the fastest kernels. list_boards, read_problem, write a file, submit it in "
    "mode test, wait_for_submission; once it is accepted, benchmark, improve, compare_submissions; "
    "at last submit in mode leaderboard, which is ranked. Times are measured by the platform: "
    "believe its intervals, not a single sample."
)
_READS = ToolAnnotations(read_only_hint=True)
_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False)


def server_of_account(endpoint: Endpoint) -> MCPServer:
    """For one account on this machine: it asks `endpoint` with its token, and judges here."""
    server = _server(Tools(lambda _: KernelbotClient.to(endpoint)))
    server.add_tool(run_locally, annotations=_READS)
    return server


def server_of_callers(url: str) -> MCPServer:
    """For everybody who has a token of the server at `url` and sends it with each request. Nothing
    is judged on this machine, and none of its own tokens are used."""

    def connect(ctx: Context) -> AbstractContextManager[KernelbotClient]:
        return KernelbotClient(url, token_of((ctx.headers or {}).get("authorization", "")))

    return _server(Tools(connect))


def serve_callers(url: str, host: str, port: int) -> None:
    """Serve them at /mcp until it is stopped. Raises `UserError` where nothing can listen."""
    import uvicorn

    server = server_of_callers(url)
    with listen(host, port) as listener:
        config = uvicorn.Config(server.streamable_http_app(host=host), log_level="warning")
        asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


def token_of(authorization: str) -> str | None:
    """The token of a header; None if it has none."""
    scheme, _, token = authorization.partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def _server(tools: Tools) -> MCPServer:
    server = MCPServer(
        "kernelbot", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING"
    )
    for tool in (
        tools.list_boards,
        tools.read_problem,
        tools.wait_for_submission,
        tools.read_report,
        tools.read_profile,
        tools.compare_submissions,
        tools.read_standings,
    ):
        server.add_tool(tool, annotations=_READS)
    server.add_tool(tools.submit, annotations=_ADDS)
    return server
