"""What `submit` asks a person who named no board."""

import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kernelbot.boards.rules import has_ended
from kernelbot.cli.asking import ask
from kernelbot.cli.terminal import Terminal
from kernelbot.domain.errors import UserError
from kernelbot.protocol import Mode
from kernelbot.protocol.late import dataclass

if TYPE_CHECKING:
    from kernelbot.boards.model import NamedBoard
    from kernelbot.client import KernelbotClient


@dataclass(frozen=True)
class SendChoice:
    """Where a file is sent, and what for."""

    board: str
    devices: tuple[str, ...]
    mode: Mode

    def options(self) -> str:
        """The options that say the same, so that nobody is asked the next time."""
        devices = [part for name in self.devices for part in ("--device", name)]
        return shlex.join(["--board", self.board, *devices, "--mode", self.mode.value])


def choose(
    client: "KernelbotClient", terminal: Terminal, devices: Sequence[str], mode: Mode | None
) -> SendChoice:
    """Ask for the board, and for the devices and the mode if they aren't given. Raises `UserError`
    if no board takes submissions, and `Exit` if the person gives up."""
    now = datetime.now(UTC)
    boards = [one for one in client.boards().boards if not has_ended(one.deadline, now)]
    if not boards:
        raise UserError("No board takes submissions just now.")
    board = _board(boards, terminal)
    wanted = tuple(devices) or _devices(board, terminal)
    return SendChoice(board.name, wanted, mode or _mode())


def _board(boards: "Sequence[NamedBoard]", terminal: Terminal) -> "NamedBoard":
    from kernelbot.render.table import table

    rows = [
        [
            str(number),
            one.name,
            ", ".join(one.devices),
            f"until {one.deadline:%Y-%m-%d %H:%M} UTC" if one.deadline else "no deadline",
        ]
        for number, one in enumerate(boards, 1)
    ]
    terminal.progress(table(["", "board", "devices", "deadline"], rows, right=("",)))
    name = _ask("Board (number or name)", [one.name for one in boards], default=None)
    return next(one for one in boards if one.name == name)


def _devices(board: "NamedBoard", terminal: Terminal) -> tuple[str, ...]:
    """None of them asked for if the board has one."""
    if len(board.devices) < 2:
        return ()
    listed = "  ".join(f"{number} {name}" for number, name in enumerate(board.devices, 1))
    terminal.progress(f"Devices: {listed}")
    return (_ask("Device (number or name)", board.devices, default=board.devices[0]),)


def _mode() -> Mode:
    """Leaderboard if the person says nothing."""
    names = [mode.value for mode in Mode]
    return Mode(_ask(f"Mode ({', '.join(names)})", names, default=Mode.LEADERBOARD.value))


def _ask(question: str, names: Sequence[str], *, default: str | None) -> str:
    """One of the names, by its number from 1 or by itself, asked until it is one."""
    known = {name.lower(): name for name in names}
    known.update({str(number): name for number, name in enumerate(names, 1)} | known)
    while True:
        answer = ask(question, default=default).strip().lower()
        if answer in known:
            return known[answer]
        print(f"There is none of that name: {', '.join(names)}.", file=sys.stderr)
