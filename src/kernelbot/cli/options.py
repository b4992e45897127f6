"""Options that several commands share, so that they are spelt and explained alike."""

from typing import Annotated

import typer

from kernelbot.protocol import Mode

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout, and no progress.")
]
Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        help="The server. Default: KERNELBOT_URL, POPCORN_API_URL, the last login, "
        "a server on this machine.",
        show_default=False,
    ),
]
ModeOption = Annotated[
    Mode,
    typer.Option(
        "--mode",
        "-m",
        help="test: correctness; benchmark: and times; leaderboard: and ranked; "
        "profile: correctness and a profile.",
    ),
]
