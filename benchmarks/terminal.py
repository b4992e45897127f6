"""Processor time of each of the terminal's commands that an author waits for, with a local server.

Run with `python -m benchmarks.terminal [--repeat N]`. `python -c pass` is what none of them can go
below. The commands take turns, so that a machine that gets busy meanwhile is busy for all of them.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.local_server import LocalServer

from benchmarks.figures import median_and_p95_ms
from kernelbot.catalog.problem import load_problem
from kernelbot.client import KernelbotClient
from kernelbot.render.table import table

ROOT = Path(__file__).resolve().parent.parent
PROBLEM = ROOT / "examples" / "identity_np"
KERNEL = PROBLEM / "submission.py"
BOARD = "identity_np"
BARE = "python -c pass"
COMMANDS = (
    "kernelbot --version",
    "kernelbot whoami",
    "kernelbot whoami --json",
    "kernelbot board list",
    "kernelbot board list --json",
    f"kernelbot board show {BOARD}",
    f"kernelbot board show {BOARD} --statement",
    "kernelbot devices",
    "kernelbot submission list",
    "kernelbot submission show 1",
    "kernelbot submission show 1 --json",
    "kernelbot submission show 1 --timings",
    "kernelbot submission wait 1",
    "kernelbot submission samples 1 --csv",
    "kernelbot submission artifacts 1",
    f"kernelbot submit {KERNEL} --board {BOARD} --mode test --no-wait",
    f"kernelbot submit {KERNEL} --board {BOARD} --mode test",
    "kernelbot author show root",
    "kernelbot follow",
    "kernelbot token list",
    "kernelbot identity list",
    f"kernelbot invite list {BOARD}",
    "kernelbot user list",
    "kernelbot audit",
    "kernelbot stats",
    "kernelbot webhook list",
    "kernelbot signing-key list",
    f"kernelbot run {PROBLEM} {KERNEL} --mode test",
    "kernelbot --help",
    "kernelbot board show --help",
    "kernelbot dev --help",
)
MISTAKES = (
    "kernelbot bord",
    "kernelbot board shw",
    "kernelbot board show",
    "kernelbot board show x --limt 3",
    "kernelbot submission show abc",
)
"""Each is answered with what is wrong, and with the exit code for it."""
_USAGE = 2
COMPLETED = {
    "completion: a command": "kernelbot bo",
    "completion: a command of a group": "kernelbot board sh",
    "completion: a board": "kernelbot board show i",
    "completion: a submission": "kernelbot submission show ",
}
"""What somebody has typed when they press the key."""


def processor_s(command: list[str], environ: dict[str, str], code: int = 0) -> float:
    """What one run of it uses, and what it waits for: its children. Raises RuntimeError unless it
    ends with this code."""
    with tempfile.TemporaryFile() as said:
        started = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environ
        )
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        if started.returncode != code:
            said.seek(0)
            words = said.read().decode(errors="replace")
            raise RuntimeError(f"{' '.join(command)}: {started.returncode}\n{words}")
    return used.ru_utime + used.ru_stime


def measured(environ: dict[str, str], repeat: int) -> dict[str, list[float]]:
    """The seconds of each command, by its name."""
    asked: dict[str, tuple[list[str], dict[str, str]]] = {
        BARE: ([sys.executable, "-c", "pass"], environ)
    }
    program = str(Path(sys.executable).with_name("kernelbot"))
    for line in (*COMMANDS, *MISTAKES):
        asked[line.replace(f"{ROOT}/", "")] = ([program, *line.split()[1:]], environ)
    for name, typed in COMPLETED.items():
        in_bash = {
            "_KERNELBOT_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(typed.split(" ")) - 1),
        }
        in_zsh = {"_KERNELBOT_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": typed}
        in_fish = in_zsh | {
            "_KERNELBOT_COMPLETE": "complete_fish",
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        }
        asked[name] = ([program], environ | in_bash)
        asked[f"{name}, in zsh"] = ([program], environ | in_zsh)
        asked[f"{name}, in fish"] = ([program], environ | in_fish)
    found: dict[str, list[float]] = {name: [] for name in asked}
    for turn in range(repeat + 1):
        for name, (command, given) in asked.items():
            used_s = processor_s(command, given, _USAGE if name in MISTAKES else 0)
            if turn:  # the first one reads files, and compiles some
                found[name].append(used_s)
    return found


def prepared(client: KernelbotClient) -> None:
    """A board with one ranked submission."""
    client.create_board(load_problem(PROBLEM).definition, name=BOARD, devices=["CPU"])
    sent = client.submit(KERNEL.name, KERNEL.read_bytes(), board=BOARD)
    for _ in client.events(sent.id):
        pass


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as folder:
        config = ROOT / "examples" / "demo.toml"
        variables = {"KERNELBOT_TURN": ""}  # no score is refused because the machine is busy
        with LocalServer(Path(folder, "server"), config=config, variables=variables) as server:
            endpoint = server.own_endpoint()
            with KernelbotClient.to(endpoint) as client:
                prepared(client)
            given = {
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("KERNELBOT_", "POPCORN_", "PYTHON"))
            }
            given |= {
                "KERNELBOT_URL": endpoint.url,
                "KERNELBOT_TOKEN": endpoint.token or "",
                "HOME": folder,
                "XDG_RUNTIME_DIR": folder,
            }
            found = measured(given, repeat)
    bare_s = statistics.median(found[BARE])
    rows = [
        (name, *median_and_p95_ms(used), f"{(statistics.median(used) - bare_s) * 1e3:.1f}")
        for name, used in found.items()
    ]
    headers = ("command", "median ms", "p95 ms", "beside Python ms")
    print(f"Processor time, {repeat} times each, load {os.getloadavg()[0]:.1f}:\n")
    print(table(headers, rows, right=headers[1:]))


if __name__ == "__main__":
    main()
