"""The command tree, and what surrounds every command."""

import errno
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.exceptions import TyperException

from kernelbot import __version__
from kernelbot.cli.errors import (
    INTERRUPTED,
    OUTPUT_CLOSED,
    report_crash,
    report_error,
    report_usage,
)
from kernelbot.cli.names import AUDIENCES, COMMANDS
from kernelbot.domain.errors import KernelbotError, UserError

_COMPLETES = "_KERNELBOT_COMPLETE"
"""The variable by which a shell asks what could be typed next."""
_TYPED = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""The variables in which shells then say what was typed."""
_SERVES = "server"
"""The module whose commands are a platform's processes: an operator may want to trace them."""
_ASK_FOR_HELP = ("-h", "--help")
_FULL = (errno.ENOSPC, errno.EDQUOT)
_HELP = """Kernel competitions: submissions judged in a sandbox, measured honestly, ranked.

Judge a file here, without a server: kernelbot run PROBLEM_DIR FILE

Send it to a board, and follow it: kernelbot submit FILE --board BOARD

Run a platform on this machine: kernelbot serve"""


def command_tree(modules: Iterable[str] = COMMANDS) -> typer.Typer:
    """The commands of some modules; by default all."""
    app = typer.Typer(
        name="kernelbot",
        help=_HELP,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": list(_ASK_FOR_HELP)},
    )
    app.callback()(root)
    for module in modules:
        import_module(f"kernelbot.cli.{module}").register(app)
    return app


def _called_tree(arguments: list[str]) -> typer.Typer:
    """The commands of the one module that is needed. The others are there by name, if a name is
    asked for, or is unknown."""
    completes = _COMPLETES in os.environ
    modules = _modules_for(_typed() if completes else arguments)
    if _SERVES not in modules:  # pydantic looks for them among all that is installed
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    app = command_tree(modules)
    if completes or not (modules or arguments == ["--version"]):
        others = (of for module, of in COMMANDS.items() if module not in modules)
        for name, sentence in (one for commands in others for one in commands.items()):
            app.command(name, help=sentence)(_not_loaded)
    return app


def _not_loaded() -> NoReturn:
    raise AssertionError("the module of a command that is called is loaded")


def _typed() -> list[str]:
    line = next((os.environ[name] for name in _TYPED if name in os.environ), "")
    return line.split()[1:]


def _tidy_help(command: object) -> None:
    if isinstance(command, TyperGroup):
        _in_groups(command)
        _without_types_of_flags(command)


def _in_groups(command: TyperGroup) -> None:
    """Have the help show each command with those for the same people."""
    found = {name: panel for panel, names in AUDIENCES.items() for name in names}
    places = {name: place for place, name in enumerate(found)}
    for name, one in command.commands.items():
        if isinstance(one, TyperCommand | TyperGroup) and name in found:
            one.rich_help_panel = found[name]
    command.commands = dict(
        sorted(command.commands.items(), key=lambda item: places.get(item[0], len(places)))
    )


def _without_types_of_flags(command: TyperCommand | TyperGroup) -> None:
    """Have the help of it, and of all commands below, show flags without a type: they take none."""
    context = typer.Context(command, help_option_names=list(_ASK_FOR_HELP))
    for option in (*command.params, command.get_help_option(context)):
        if isinstance(option, TyperOption) and option.is_flag:
            option.metavar = ""
    if isinstance(command, TyperGroup):
        for one in command.commands.values():
            if isinstance(one, TyperCommand | TyperGroup):
                _without_types_of_flags(one)


def _modules_for(arguments: list[str]) -> list[str]:
    """The one that registers the command; none if there is no such command, or if help is asked for
    before it, which is that of all commands."""
    called = next(
        (one for one in arguments if one in _ASK_FOR_HELP or not one.startswith("-")), None
    )
    return [module for module, names in COMMANDS.items() if called in names]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kernelbot {__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print it.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Kernel competitions: submissions judged in a sandbox, measured honestly, ranked."""


def run(arguments: list[str] | None = None) -> NoReturn:
    """Run one command and exit with its code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    _have_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that can't show a character shows another one; that is no reason to stop.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr] # real streams can
    sys.exit(_told(arguments, as_json="--json" in arguments))


def _have_streams() -> None:
    """Python has none for a descriptor that a shell has closed (`>&-`)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (until the process ends)


class DiskFull(UserError):
    """This command had something to write, and there was no room."""

    def __init__(self) -> None:
        super().__init__(
            "The disk is full, so what this command had to write isn't complete.",
            hint="Make room and run it again; what a server has accepted isn't lost.",
        )


def _discard_output() -> None:
    """Python would try to write what is left, and report that again while exiting."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _keep_exit_codes(command: Any) -> None:  # of classes that typer doesn't export
    """Have who gives up at a question end the command as Ctrl-C does elsewhere, and whose output's
    reader has gone as a shell says it: typer ends both with 1, which is here that a file was
    refused."""
    invoke = command.invoke

    def invoke_it(context: typer.Context) -> object:
        try:
            return invoke(context)
        except TyperException as error:
            error.message = error.message.removeprefix("Value error, ")  # pydantic's
            raise
        except typer.Abort:
            print(file=sys.stderr)  # the question's line isn't ended
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _discard_output()
            raise typer.Exit(OUTPUT_CLOSED) from None

    command.invoke = invoke_it


def _told(arguments: list[str], *, as_json: bool) -> int:
    """The exit code, also if an error can't be told."""
    try:
        return _run(arguments, as_json=as_json)
    except BrokenPipeError:
        _discard_output()
        return OUTPUT_CLOSED
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _discard_output()
        return report_error(DiskFull(), as_json=False)


def _run(arguments: list[str], *, as_json: bool) -> int:
    try:
        command = typer.main.get_command(_called_tree(arguments))
        _tidy_help(command)
        _keep_exit_codes(command)
        code = command.main(arguments, prog_name="kernelbot", standalone_mode=not as_json)
    except KernelbotError as error:
        return report_error(error, as_json=as_json)
    except TyperException as error:  # only with --json: else typer has printed it and exited
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "kernelbot"
        return report_usage(error.format_message(), path, as_json=as_json)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output is gone
        _discard_output()
        return OUTPUT_CLOSED
    except OSError as error:
        if error.errno in _FULL:
            _discard_output()  # it may be what fills the disk
            return report_error(DiskFull(), as_json=False)
        if error.errno == errno.ENAMETOOLONG:  # pathlib raises it from any method
            return report_error(UserError("The path is too long."), as_json=as_json)
        if isinstance(error, PermissionError) and isinstance(error.filename, str | bytes):
            refused = UserError(f"{os.fsdecode(error.filename)} can't be reached: access denied.")
            return report_error(refused, as_json=as_json)
        return report_crash(error, as_json=as_json)
    except Exception as error:  # noqa: BLE001 (the process ends; Python's own code for it, 1, means something else here)
        return report_crash(error, as_json=as_json)
    return code if isinstance(code, int) else 0
