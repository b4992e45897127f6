"""A command line that leaves no question: it is read without typer.

Whatever is asked for (help, a completion), is missing, is misspelt, is out of bounds or could be
meant in two ways is left to typer, which then reads the whole line by itself.
"""

import os
import typing
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from kernelbot.cli.declaring import Argument, Command, Commands, Option, Parameter

MOST_DIGITS = 15
Value = str | int | float | bool | Path | Enum | list[Any] | None


class Unclear(Exception):
    """The line is typer's."""


def read(commands: Commands, words: list[str]) -> Callable[[], object] | None:
    """The call that the words after `kernelbot` ask for; None if typer has to read them."""
    try:
        require(all(word and _is_unicode(word) for word in words))
        command, rest = _called(commands, words)
        return partial(command.function, **_Line(command.function).values(rest))
    except Unclear:
        return None


def _called(commands: Commands, words: list[str]) -> tuple[Command, list[str]]:
    require(bool(words))
    found = commands.found.get(words[0])
    if isinstance(found, Command):
        return found, words[1:]
    if found is not None:
        return _called(found, words[1:])
    raise Unclear


class _Line:
    """The options and arguments that a command takes, and what is given for them."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._known = known_of(function)
        self._options = {
            spelt: (known, value) for known in self._known for spelt, value in known.spellings()
        }
        self._arguments = [known for known in self._known if known.is_argument]
        optional = len(function.__defaults__ or ())
        self._needed = [known.name for known in self._known[: len(self._known) - optional]]
        self._values: dict[str, Value] = {}

    def values(self, words: list[str]) -> dict[str, Value]:
        """The values by parameter. Raises `Unclear`."""
        rest = iter(words)
        for word in rest:
            if word.startswith("-"):
                self._take_option(word, rest)
            else:
                self._take_argument(word)
        require(self._values.keys() >= set(self._needed))
        require(not any(known.is_in_environment() for known in self._known))
        return self._values

    def _take_option(self, word: str, rest: Iterator[str]) -> None:
        spelt, joined, text = word.partition("=")
        require(spelt in self._options)
        known, flag = self._options[spelt]
        require(known.is_list or known.name not in self._values)
        if flag is not None:
            require(not joined)
            self._values[known.name] = flag
            return
        if not joined:
            text = next(rest, "")
            require(not text.startswith("-"))
        self._take(known, text, is_joined=bool(joined and not spelt.startswith("--")))

    def _take_argument(self, word: str) -> None:
        require(bool(self._arguments))
        known = self._arguments[0] if self._arguments[0].is_list else self._arguments.pop(0)
        self._take(known, word, is_joined=False)

    def _take(self, known: "Known", text: str, *, is_joined: bool) -> None:
        require(bool(text) and not is_joined)  # `-d=CPU` is `=CPU` to some, and `CPU` to others
        value = known.read(text)
        if known.is_list:
            given = self._values.setdefault(known.name, [])
            assert isinstance(given, list)
            given.append(value)
        else:
            self._values[known.name] = value


class Known:
    """An option or argument of a command."""

    def __init__(self, name: str, hint: Any) -> None:
        declared = [one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Parameter)]
        require(len(declared) == 1)
        self.name = name
        self.declared = declared[0]
        kinds = [kind for kind in typing.get_args(hint.__origin__) if kind is not type(None)]
        is_optional = len(kinds) < len(typing.get_args(hint.__origin__))
        self._kind = kinds[0] if is_optional and len(kinds) == 1 else hint.__origin__
        self.is_argument = isinstance(self.declared, Argument)
        self.is_list = typing.get_origin(self._kind) is list
        if self.is_list:
            (self._kind,) = typing.get_args(self._kind)

    def spellings(self) -> Sequence[tuple[str, bool | None]]:
        """How an option is written, and what it says if it is a flag."""
        if not isinstance(self.declared, Option):
            return []
        usual = "--" + self.name.replace("_", "-")
        if self._kind is not bool:
            return [(spelt, None) for spelt in self.declared.names or (usual,)]
        names = self.declared.names or (f"{usual}/--no-{usual.removeprefix('--')}",)
        pairs = [spelt.partition("/") for spelt in names]
        return [(yes, True) for yes, _, _ in pairs] + [(no, False) for _, _, no in pairs if no]

    def is_in_environment(self) -> bool:
        """Whether a variable may say what the line doesn't."""
        return self.declared.given.get("envvar", "") in os.environ

    def words(self) -> list[str]:
        """What there is to choose from; empty: nothing is known of that."""
        if isinstance(self._kind, type) and issubclass(self._kind, Enum):
            return [str(member.value) for member in self._kind]
        return []

    def read(self, text: str) -> Value:
        """Raises `Unclear`."""
        if self._kind is str:
            return text
        if self._kind is int:
            require(text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS)
            require(text == "0" or not text.startswith("0"))
            return self._bounded(int(text))
        if self._kind is float:
            whole, point, rest = text.partition(".")
            require(whole.isascii() and whole.isdecimal())
            require(not point or (rest.isascii() and rest.isdecimal()))
            return self._bounded(float(text))
        if self._kind is Path:
            require(not os.path.exists(text) or os.access(text, os.R_OK))  # noqa: PTH110 (of text)
            return Path(text)
        if isinstance(self._kind, type) and issubclass(self._kind, Enum):
            member = next((one for one in self._kind if one.value == text), None)
            require(member is not None)
            return member
        raise Unclear

    def given(self, value: object) -> object:
        """What a text stands for, or a default as declared. Raises `Unclear`."""
        if isinstance(value, str) and not isinstance(value, Enum):
            require(bool(value) and _is_unicode(value))
            return self.read(value)
        require(type(value) is self._kind)
        if isinstance(value, bool | Enum):
            return value
        require(isinstance(value, int | float))
        assert isinstance(value, int | float)
        return self._bounded(value)

    @property
    def is_whole_number(self) -> bool:
        """Whether it is an integer, or a list of these."""
        return self._kind is int

    def bounds(self) -> tuple[float | None, float | None]:
        """The least and the greatest number; None: any."""
        return self.declared.given.get("min"), self.declared.given.get("max")

    def _bounded(self, number: float) -> float:
        least, most = self.bounds()
        require(least is None or number >= least)
        require(most is None or number <= most)
        return number


def known_of(function: Callable[..., object]) -> "list[Known]":
    """What a command takes, in its order. Raises `Unclear`."""
    hints = typing.get_type_hints(function, include_extras=True)
    return [Known(name, hint) for name, hint in hints.items() if name != "return"]


def _is_unicode(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def require(clear: bool) -> None:
    """Raises `Unclear` unless it is."""
    if not clear:
        raise Unclear
