"""Processor time of each of the terminal's commands that people wait for, with a local server.

Run with `python -m benchmarks.terminal [--repeat N] [--only WORDS] [--beside KERNELBOT]`.
`python -c pass` is what none of them can go below. The commands take turns, so that a machine that
gets busy meanwhile is busy for all of them.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripts.local_server import LocalServer

from benchmarks.figures import median_and_p95_ms
from benchmarks.terminal_lines import (
    BOARD,
    COMMANDS,
    COMPLETED,
    KERNEL,
    MISTAKES,
    PERSON,
    PROBLEM,
    ROOT,
    SEND_A_BODY,
)
from kernelbot.catalog.problem import load_problem
from kernelbot.client import KernelbotClient
from kernelbot.render.table import table

BARE = "python -c pass"
_USAGE = 2


def processor_s(command: list[str], environ: dict[str, str], folder: Path, code: int = 0) -> float:
    """What one run of it in a folder uses, and what it waits for: its children. Raises RuntimeError
    unless it ends with this code."""
    with tempfile.TemporaryFile() as said:
        started = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environ, cwd=folder
        )
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        if started.returncode != code:
            said.seek(0)
            words = said.read().decode(errors="replace")
            raise RuntimeError(f"{' '.join(command)}: {started.returncode}\n{words}")
    return used.ru_utime + used.ru_stime


class Lines:
    """What is measured, by name: a command, its variables, and the code that it ends with."""

    def __init__(
        self, program: str, environ: dict[str, str], codes: Iterator[str], new: Iterator[int]
    ) -> None:
        self._program = program
        self._environ = environ
        self._codes = codes
        self._new = new

    def processor_s(self, name: str, folder: Path) -> float:
        """The seconds of one run of this line, in a folder."""
        if name == BARE:
            return processor_s([sys.executable, "-c", "pass"], self._environ, folder)
        if (asking := ASKING.get(name)) is not None:
            return processor_s([self._program], self._environ | asking, folder)
        code = next(self._codes) if "{code}" in name else ""
        line = name.format(new=f"new-{next(self._new)}", code=code)
        expected = _USAGE if name in MISTAKES else 0
        return processor_s([self._program, *line.split()[1:]], self._environ, folder, expected)


def _asking() -> dict[str, dict[str, str]]:
    """By name, the variables by which shells ask what could be typed next."""
    found: dict[str, dict[str, str]] = {}
    for name, typed in COMPLETED.items():
        found[name] = {
            "_KERNELBOT_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(typed.split(" ")) - 1),
        }
        in_zsh = {"_KERNELBOT_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": typed}
        found[f"{name}, in zsh"] = in_zsh
        found[f"{name}, in fish"] = in_zsh | {
            "_KERNELBOT_COMPLETE": "complete_fish",
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        }
    return found


ASKING = _asking()


def measured(
    programs: Sequence[Lines], names: Sequence[str], folder: Path, repeat: int
) -> dict[str, list[list[float]]]:
    """The seconds of each line, by its name, and by program."""
    found: dict[str, list[list[float]]] = {name: [[] for _ in programs] for name in names}
    for turn in range(repeat + 1):
        for name in names:
            for place, program in enumerate(programs):
                used_s = program.processor_s(name, folder)
                if turn:  # the first one reads files, and compiles some
                    found[name][place].append(used_s)
    return found


def prepared(client: KernelbotClient, codes: int) -> list[str]:
    """A board with one ranked submission, and an account; returns invites to the board."""
    client.create_board(load_problem(PROBLEM).definition, name=BOARD, devices=["CPU"])
    sent = client.submit(KERNEL.name, KERNEL.read_bytes(), board=BOARD)
    for _ in client.events(sent.id):
        pass
    client.create_user(PERSON)
    return list(client.create_invites([BOARD], codes).codes)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--beside", help="Another commit's `kernelbot`, which takes turns.")
    parser.add_argument("--only", default="", help="Lines that have this in them.")
    given = parser.parse_args()
    paths = [str(Path(sys.executable).with_name("kernelbot"))]
    paths = [given.beside, *paths] if given.beside else paths
    lines = (BARE, *COMMANDS, *SEND_A_BODY, *MISTAKES, *ASKING)
    names = [name for name in lines if given.only in name or name == BARE]
    with tempfile.TemporaryDirectory() as folder:
        config = ROOT / "examples" / "demo.toml"
        variables = {"KERNELBOT_TURN": ""}  # no score is refused because the machine is busy
        with LocalServer(Path(folder, "server"), config=config, variables=variables) as server:
            endpoint = server.own_endpoint()
            with KernelbotClient.to(endpoint) as client:
                codes = iter(prepared(client, (given.repeat + 1) * len(paths)))
            environ = {
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("KERNELBOT_", "POPCORN_", "PYTHON"))
            }
            environ |= {
                "KERNELBOT_URL": endpoint.url,
                "KERNELBOT_TOKEN": endpoint.token or "",
                "HOME": folder,
                "XDG_RUNTIME_DIR": folder,
            }
            new = itertools.count()
            programs = [Lines(path, environ, codes, new) for path in paths]
            found = measured(programs, names, Path(folder), given.repeat)
    headers = ("command", *(f"{kind} ms" for _ in paths for kind in ("median", "p95", "least")))
    rows = [
        (
            name.replace(f"{ROOT}/", ""),
            *(
                text
                for used in of_programs
                for text in (*median_and_p95_ms(used), f"{min(used) * 1e3:.1f}")
            ),
        )
        for name, of_programs in found.items()
    ]
    print(f"Processor time, {given.repeat} times each, load {os.getloadavg()[0]:.1f}:\n")
    print(table(headers, rows, right=headers[1:]))


if __name__ == "__main__":
    main()
