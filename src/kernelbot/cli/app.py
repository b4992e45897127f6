"""The `kernelbot` command, and what surrounds every command."""

import errno
import os
import sys
from pathlib import Path
from typing import NoReturn

from kernelbot import __version__
from kernelbot.cli.declaring import Exit, load
from kernelbot.cli.errors import (
    ACCEPTED,
    INTERRUPTED,
    OUTPUT_CLOSED,
    discard_output,
    report_crash,
    report_error,
)
from kernelbot.cli.names import COMMANDS, COMPLETES
from kernelbot.cli.well_formed import read
from kernelbot.domain.errors import KernelbotError, UserError

_SERVES = "server"
"""The module whose commands are a platform's processes: an operator may want to trace them."""
_DIGITS = 5
"""So many have no terminal's width or height."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


def run(arguments: list[str] | None = None) -> NoReturn:
    """Run one command and exit with its code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    _have_streams()
    _forget_impossible_sizes()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that can't show a character shows another one; that is no reason to stop.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr] # real streams can
    sys.exit(_told(arguments, as_json="--json" in arguments))


def _have_streams() -> None:
    """Python has none for a descriptor that a shell has closed (`>&-`)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (until the process ends)


def _forget_impossible_sizes() -> None:
    """Of a terminal without columns rich shows nothing, not even a mistake; for too many it has no
    memory, and not every character that it takes for a digit is one."""
    for name in ("COLUMNS", "LINES"):
        size = os.environ.get(name, "").strip()
        if size.isdigit() and not (size.isascii() and 0 < len(size.lstrip("0")) < _DIGITS):
            del os.environ[name]


class DiskFull(UserError):
    """This command had something to write, and there was no room."""

    def __init__(self) -> None:
        super().__init__(
            "The disk is full, so what this command had to write isn't complete.",
            hint="Make room and run it again; what a server has accepted isn't lost.",
        )


class FolderGone(UserError):
    """This command was called in a folder that isn't there any more."""

    def __init__(self) -> None:
        super().__init__(
            "The folder that this command was called in has been deleted.",
            hint="Go to another one (`cd`).",
        )


def _is_somewhere() -> bool:
    """Whether the working folder is there."""
    try:
        os.getcwd()  # noqa: PTH109 (`Path.cwd` is the same)
    except FileNotFoundError:
        return False
    return True


def _told(arguments: list[str], *, as_json: bool) -> int:
    """The exit code, also if an error can't be told."""
    try:
        return _run(arguments, as_json=as_json)
    except BrokenPipeError:
        discard_output()
        return OUTPUT_CLOSED
    except OSError as error:
        if error.errno not in _FULL:
            raise
        discard_output()
        return report_error(DiskFull(), as_json=False)


def _run(arguments: list[str], *, as_json: bool) -> int:
    try:
        _perform(arguments, as_json=as_json)
    except Exit as ended:
        return ended.exit_code
    except KernelbotError as error:
        return report_error(error, as_json=as_json)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output is gone
        discard_output()
        return OUTPUT_CLOSED
    except OSError as error:
        told = _told_of_system(error)
        if told is None:
            return report_crash(error, as_json=as_json)
        return report_error(told, as_json=as_json and not isinstance(told, DiskFull))
    except Exception as error:  # noqa: BLE001 (the process ends; Python's own code for it, 1, means something else here)
        return report_crash(error, as_json=as_json)
    return ACCEPTED


def _told_of_system(error: OSError) -> UserError | None:
    """What is said of an error that may come from anywhere; None: it is a mistake of ours."""
    if error.errno in _FULL:
        discard_output()  # it may be what fills the disk
        return DiskFull()
    if error.errno == errno.ENAMETOOLONG:  # pathlib raises it from any method
        return UserError("The path is too long.")
    if isinstance(error, PermissionError) and isinstance(error.filename, str | bytes):
        return UserError(f"{os.fsdecode(error.filename)} can't be reached: access denied.")
    if error.errno == errno.ENOENT and not _is_somewhere():
        return FolderGone()
    return None


def _perform(arguments: list[str], *, as_json: bool) -> None:
    """Raises `Exit` for another code than 0, and what the command raises."""
    if arguments == ["--version"]:
        print(f"kernelbot {__version__}")
        return
    if COMPLETES in os.environ:
        from kernelbot.cli.completing import answered

        if (answer := answered()) is not None:
            text, code = answer
            if text is not None:
                print(text)
            raise Exit(code)
    else:
        modules = [module for module, names in COMMANDS.items() if names.keys() & arguments[:1]]
        if _SERVES not in modules:  # pydantic looks for them among all that is installed
            os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
        call = read(load(modules), arguments)
        if call is not None:
            call()
            return
    from kernelbot.cli.tree import perform

    perform(arguments, as_json=as_json)
