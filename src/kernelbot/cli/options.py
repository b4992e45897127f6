"""Options that several commands share, so that they are spelt and explained alike."""

from datetime import datetime
from typing import Annotated

from kernelbot.cli.completion import board_names
from kernelbot.cli.declaring import Argument, Option
from kernelbot.domain.errors import UserError
from kernelbot.protocol import Mode, SandboxMode

Json = Annotated[bool, Option("--json", help="Print one JSON document on stdout, and no progress.")]
Url = Annotated[
    str | None,
    Option(
        "--url",
        help="The server. Default: KERNELBOT_URL, POPCORN_API_URL, the last login, "
        "a server on this machine.",
        show_default=False,
    ),
]
Force = Annotated[bool, Option("--force", help="Replace the file if it is there.")]
BoardName = Annotated[str, Argument(help="The board.", autocompletion=board_names)]
MODES = (
    "test: correctness; benchmark: also times; leaderboard: also ranked; "
    "profile: correctness and a profile."
)
ModeOption = Annotated[Mode, Option("--mode", "-m", metavar="<mode>", help=MODES)]
DeviceOption = Annotated[
    str | None,
    Option(
        "--device", "-d", help="Default: the first one configured, else CPU.", show_default=False
    ),
]
SandboxOption = Annotated[
    SandboxMode, Option(help="none: judge without a sandbox. Only for files that you trust.")
]
ColdOption = Annotated[
    bool,
    Option(
        "--cold",
        envvar="KERNELBOT_COLD",
        help="Judge with a new process instead of the one that stays for the next files.",
    ),
]


def read_deadline(text: str) -> datetime | None:
    """A deadline, written as in competition files; None for `none`. Raises `UserError`."""
    from kernelbot.catalog.competition import parse_deadline

    if text == "none":
        return None
    try:
        when = parse_deadline(text)
    except ValueError as error:
        raise UserError(f"{error}.", hint="Write a date, or none.") from None
    if when is None:
        raise UserError("A deadline is missing.", hint="Write it as 2027-01-31 12:00, or none.")
    return when
