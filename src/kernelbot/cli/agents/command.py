"""`kernelbot mcp`: the tools, for an agent's program to start."""

from __future__ import annotations

from typing import Annotated

from kernelbot.cli.declaring import Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.extras import require_extra
from kernelbot.cli.options import Url


def register(app: Commands) -> None:
    """Add the command."""
    app.command(
        epilog=examples(
            "kernelbot mcp", "kernelbot mcp --http --port 8765   # everybody with their own token"
        )
    )(mcp)


def mcp(
    http: Annotated[
        bool, Option("--http", help="Over HTTP at /mcp, with the callers' tokens.")
    ] = False,
    host: Annotated[str, Option(help="With --http: the address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(min=1, max=65535, help="With --http.")] = 8765,
    url: Url = None,
) -> None:
    """Serve the tools of the Model Context Protocol to an agent.

    Without --http over standard input and output, with this account's token.
    """
    require_extra("mcp")
    from kernelbot.cli.agents.server import serve_callers, server_of_account
    from kernelbot.client import find_endpoint

    endpoint = find_endpoint(url)
    if http:
        serve_callers(endpoint.url, host, port)
    else:
        server_of_account(endpoint).run("stdio")
