"""How typer reads the values of a line that it reads: as `well_formed` does, if they are plain.

typer itself has pydantic read each of them, also those that nobody gave. To load that takes longer
than to show a help or to name a mistake.
"""

import inspect
from collections.abc import Callable
from enum import Enum
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from kernelbot.cli.well_formed import MOST_DIGITS, Known, Unclear, known_of, require


def read_plainly(command: object) -> None:
    """Have the command, and all below, read plain values so. What isn't plain is typer's."""
    if not isinstance(command, TyperCommand | TyperGroup):
        return
    parameters: list[Any] = [*command.params, command.get_help_option(typer.Context(command))]
    for one in parameters:
        if hasattr(one, "get_runtime_param"):  # other releases of typer read values elsewhere
            one.get_runtime_param = _Reader(command.callback, one.get_runtime_param).itself
    for below in getattr(command, "commands", {}).values():
        read_plainly(below)


class _Reader:
    """Reads the values of a parameter of `function`. `by_typer` gives what typer reads them by."""

    def __init__(self, function: Callable[..., object] | None, by_typer: Callable[[], Any]) -> None:
        self._function = function
        self._by_typer = by_typer

    def itself(self) -> "_Reader":
        """What typer asks for."""
        return self

    def coerce(self, value: object, *, param: Any, ctx: Any) -> object:
        """The value of texts, of a default, or of nothing. Raises `typer.BadParameter`."""
        try:
            return self._plain(value, param, ctx)
        except Unclear:
            return self._by_typer().coerce(value, param=param, ctx=ctx)

    def _plain(self, value: object, param: Any, ctx: Any) -> object:
        if value is None:
            return () if param.multiple or param.nargs != 1 else None
        known = self._known(param.name)
        values = value if known.is_list and isinstance(value, tuple | list) else [value]
        found = []
        for one in values:
            if isinstance(one, str) and (reason := refusal(known, one)) is not None:
                raise typer.BadParameter(reason, ctx=ctx, param=param)
            found.append(known.given(one))
        return found if known.is_list else found[0]

    def _known(self, name: str) -> Known:
        require(self._function is not None)
        assert self._function is not None
        found = [one for one in known_of(inspect.unwrap(self._function)) if one.name == name]
        require(len(found) == 1)
        return found[0]


def refusal(known: Known, text: str) -> str | None:
    """What typer says of a text that is plainly no value, in its own words; None: nothing, or
    typer has to find that."""
    if isinstance(text, Enum) or not (text.isascii() and text.isalnum()):
        return None
    if choices := known.words():
        listed = ", ".join(map(repr, choices))
        return None if text in choices else f"{text!r} is not one of {listed}."
    if not known.is_whole_number:
        return None
    if text.isalpha():
        return "Input should be a valid integer, unable to parse string as an integer"
    if text.isdecimal() and len(text) <= MOST_DIGITS:
        least, most = known.bounds()
        if least is not None and int(text) < least:
            return f"Input should be greater than or equal to {least}"
        if most is not None and int(text) > most:
            return f"Input should be less than or equal to {most}"
    return None
