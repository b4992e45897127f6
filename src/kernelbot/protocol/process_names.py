"""What our processes are called in `ps` and `top`: `kb:judge`, `kb:runner` and so on.

For people alone: an author's code can rename its process, so nothing decides by these names.
"""

import ctypes
import sys
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

_PR_SET_NAME = 15
_ARGUMENTS = slice(45, 47)
"""Where `arg_start` and `arg_end` stand in /proc/self/stat, counted from the state; see proc(5)."""


class ProcessName(StrEnum):
    """The name of each kind of process. Linux keeps 15 characters."""

    SERVER = "kb:server"
    ANSWERER = "kb:answerer"
    WORKER = "kb:worker"
    BOT = "kb:bot"
    HOST = "kb:host"
    NODE = "kb:node"
    JUDGES = "kb:judges"
    """Forks judges."""
    JUDGE = "kb:judge"
    FORKER = "kb:forker"
    """Forks runners, in the sandbox."""
    INIT = "kb:init"
    """The first process of a runner's pid namespace."""
    RUNNER = "kb:runner"
    CAGE = "kb:cage"


def name_process(name: ProcessName, detail: str = "", *, keep_command: bool = False) -> None:
    """Call this process so: in `top`, and with `detail` in `ps` instead of its command.

    `keep_command`: its command line says more, and stays. Nothing happens on another system than
    Linux.
    """
    if not sys.platform.startswith("linux"):
        return
    text = str.encode(name)
    _set_name()(_PR_SET_NAME, text, 0, 0, 0)
    if not keep_command:
        _overwrite_arguments(text + b" " + detail.encode() if detail else text)


# A fork names itself first of all. Found out once, before it: whatever Python touches in a fork is
# copied by the page, and making these again, or calling memmove, touches 170 pages.


@cache
def _set_name() -> Any:
    return ctypes.CDLL(None).prctl


def _overwrite_arguments(text: bytes) -> None:
    """In place, as far as there is room: where the kernel looks for a process's command line."""
    arguments = argument_memory()
    if arguments is not None:
        room = len(arguments)
        arguments.raw = text[: room - 1].ljust(room, b"\0")


@cache
def argument_memory() -> Any:
    """The memory in which they are, at the same place in all forks of a process; None if that is
    unknown."""
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    start, end = map(int, fields[_ARGUMENTS])
    return (ctypes.c_char * (end - start)).from_address(start) if start else None
