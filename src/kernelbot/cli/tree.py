"""typer's tree of the commands: it shows help, names mistakes and completes what is typed."""

import functools
import inspect
import os
import typing
from collections.abc import Callable, Collection, Iterable
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.exceptions import TyperException

from kernelbot import __version__
from kernelbot.cli.declaring import Command, Commands, Exit, Option, Parameter, load
from kernelbot.cli.errors import INTERRUPTED, OUTPUT_CLOSED, discard_output, report_usage
from kernelbot.cli.names import AUDIENCES, COMMANDS, COMPLETES
from kernelbot.cli.plain_reading import read_plainly

_TYPED = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""The variables in which shells that ask for completions say what was typed."""
_ASK_FOR_HELP = ("-h", "--help")


def perform(arguments: list[str], *, as_json: bool) -> None:
    """Read the arguments and run the command. Raises `Exit` with its code, unless that is 0, and
    SystemExit if typer has said it all."""
    command = typer.main.get_command(_called_tree(arguments))
    _tidy_help(command)
    read_plainly(command)
    _keep_exit_codes(command)
    try:
        code = command.main(arguments, prog_name="kernelbot", standalone_mode=not as_json)
    except TyperException as error:  # only with --json: else typer has printed it and exited
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "kernelbot"
        raise Exit(report_usage(error.format_message(), path, as_json=as_json)) from None
    except SystemExit as ended:
        # No command's own: rich and typer have it for output that nobody reads, and fish is told so
        # that there is nothing to offer.
        if ended.code == 1 and COMPLETES not in os.environ:
            raise Exit(OUTPUT_CLOSED) from None
        raise
    except typer.Abort:
        raise Exit(INTERRUPTED) from None
    if isinstance(code, int):
        raise Exit(code)


def command_tree(
    modules: Iterable[str] = COMMANDS, named: Collection[str] | None = None
) -> typer.Typer:
    """The commands of some modules; by default all. Those that aren't among `named` have neither
    options nor arguments; None: all have theirs."""
    commands = load(modules)
    app = typer.Typer(
        name="kernelbot",
        help=commands.about,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": list(_ASK_FOR_HELP)},
    )
    app.callback()(root)
    _add(commands, app, named)
    return app


def _called_tree(arguments: list[str]) -> typer.Typer:
    """The commands of the one module that is needed. The others are there by name, if a name is
    asked for, or is unknown."""
    completes = COMPLETES in os.environ
    modules = _modules_for(_typed() if completes else arguments)
    app = command_tree(modules, None if completes else arguments)
    if completes or not modules:
        others = (of for module, of in COMMANDS.items() if module not in modules)
        for name, sentence in (one for commands in others for one in commands.items()):
            app.command(name, help=sentence)(_not_loaded)
    return app


def _not_loaded() -> NoReturn:
    raise AssertionError("the module of a command that is called is loaded")


def _typed() -> list[str]:
    line = next((os.environ[name] for name in _TYPED if name in os.environ), "")
    return line.split()[1:]


def _modules_for(arguments: list[str]) -> list[str]:
    """The one that registers the command; none if there is no such command, or if help is asked for
    before it, which is that of all commands."""
    called = next(
        (one for one in arguments if one in _ASK_FOR_HELP or not one.startswith("-")), None
    )
    return [module for module, names in COMMANDS.items() if called in names]


def _add(commands: Commands, app: typer.Typer, named: Collection[str] | None = None) -> None:
    """Have typer know the commands and groups."""
    for name, found in commands.found.items():
        if isinstance(found, Command):
            meant = named is None or name in named or name == commands.default
            made = _for_typer(found.function) if meant else _shown(found.function)
            app.command(name, epilog=found.epilog)(made)
            continue
        kind = TyperGroup if found.default is None else _with_default(found.default)
        group = typer.Typer(cls=kind, no_args_is_help=True, help=found.about)
        _add(found, group, named)
        app.add_typer(group, name=name)


def _shown(function: Callable[..., object]) -> Callable[..., object]:
    """What stands for a command that is only listed: looking at what a command takes is what takes
    time."""

    def call() -> NoReturn:
        raise AssertionError("a command that is called is named")

    call.__doc__ = function.__doc__
    return call


def _for_typer(function: Callable[..., object]) -> Callable[..., object]:
    """The function with options and arguments of typer."""

    @functools.wraps(function)
    def call(**values: object) -> object:
        return function(**values)

    hints = typing.get_type_hints(function, include_extras=True)
    declared = {name: _hint_for_typer(hint) for name, hint in hints.items()}
    parameters = [
        one.replace(annotation=declared[one.name])
        for one in inspect.signature(function).parameters.values()
    ]
    call.__annotations__ = declared
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # read by inspect
    return call


def _hint_for_typer(hint: Any) -> Any:
    for one in getattr(hint, "__metadata__", ()):
        if isinstance(one, Parameter):
            kind = typer.Option if isinstance(one, Option) else typer.Argument
            return Annotated[hint.__origin__, kind(*one.names, **one.given)]
    return hint


class GroupWithDefault(TyperGroup):
    """A group of which one command is meant if none is named."""

    default = ""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments as given, if the first one is a command or asks for help."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [self.default, *args]
        return super().parse_args(ctx, args)


def _with_default(command: str) -> type[TyperGroup]:
    return type("GroupWithItsDefault", (GroupWithDefault,), {"default": command})


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


def _keep_exit_codes(command: Any) -> None:  # of classes that typer doesn't export
    """Have a command whose output's reader has gone end as a shell says it: typer's code for it,
    1, means here that a file was refused."""
    invoke = command.invoke

    def invoke_it(context: typer.Context) -> object:
        try:
            return invoke(context)
        except TyperException as error:
            error.message = error.message.removeprefix("Value error, ")  # pydantic's
            raise
        except BrokenPipeError:
            discard_output()
            raise typer.Exit(OUTPUT_CLOSED) from None

    command.invoke = invoke_it
