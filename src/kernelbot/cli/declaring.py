"""How commands and their options are declared, in terms that cost nothing to load.

typer shows help, names mistakes and completes what is typed: `tree` makes its tree of these
declarations. A command line that leaves no question is read without it (`well_formed`), because
typer, and pydantic, by which it reads each option, take longer to load than most commands take.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, TypedDict, TypeVar, Unpack

Called = TypeVar("Called", bound=Callable[..., Any])
_ABOUT = """Kernel competitions: submissions judged in a sandbox, measured honestly, ranked.

Judge a file here, without a server: kernelbot run PROBLEM_DIR FILE

Send it to a board, and follow it: kernelbot submit FILE --board BOARD

Run a platform on this machine: kernelbot serve"""


Completion = Callable[[str], Sequence[str] | Sequence[tuple[str, str]]]
"""What a shell offers for the beginning of a value: words, or each with a sentence. Its parameter
is named `incomplete`, by which typer knows what to give it."""


class Exit(Exception):
    """Ends the command with this exit code."""

    def __init__(self, code: int = 0) -> None:
        super().__init__(code)
        self.exit_code = code


class Given(TypedDict, total=False):
    """What is said of an option or argument, in typer's words."""

    help: str
    metavar: str
    min: float
    max: float
    show_default: bool
    envvar: str
    autocompletion: Completion


class Parameter:
    """What a command takes. `names`: how an option is written; none: as its parameter."""

    def __init__(self, *names: str, **given: Unpack[Given]) -> None:
        self.names = names
        self.given = given


class Option(Parameter):
    """Written with its name, as `--board sort_np`."""


class Argument(Parameter):
    """Written by its place."""


class Command:
    """A command that is a function. `epilog`: what its help ends with."""

    def __init__(self, function: Callable[..., Any], epilog: str | None) -> None:
        self.function = function
        self.epilog = epilog


class Commands:
    """Commands and groups of commands, by name. `about`: how their help begins. `default`: the
    command that is meant if none is named."""

    def __init__(self, about: str, *, default: str | None = None) -> None:
        self.about = about
        self.default = default
        self.found: dict[str, Command | Commands] = {}

    def command(
        self, name: str | None = None, *, epilog: str | None = None
    ) -> Callable[[Called], Called]:
        """Adds the decorated function, as the command of its own name unless `name` is given."""

        def add(function: Called) -> Called:
            self.found[name or function.__name__.replace("_", "-")] = Command(function, epilog)
            return function

        return add

    def add(self, group: "Commands", name: str) -> None:
        """Adds a group."""
        self.found[name] = group


def load(modules: Iterable[str]) -> Commands:
    """The commands of some modules of this package."""
    found = Commands(_ABOUT)
    for module in modules:
        import_module(f"kernelbot.cli.{module}").register(found)
    return found
