"""A line that is read without typer is one that typer reads alike."""

import functools
import inspect
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.exceptions import TyperException

from kernelbot.cli import tree
from kernelbot.cli.declaring import Command, Commands, load
from kernelbot.cli.names import COMMANDS
from kernelbot.cli.well_formed import Known, known_of, read
from tests.support.exhaustive import examples

TEXTS = {str: ["x1"], int: ["3"], float: ["2.5"], Path: ["some/file"]}


@functools.cache
def as_typer_reads(module: str) -> Any:
    """The module's commands, of which each returns what it was given."""
    recording = _recording(load([module]))
    app = typer.Typer(no_args_is_help=True)
    app.callback()(tree.root)
    tree._add(recording, app)
    return typer.main.get_command(app)


def _recording(commands: Commands) -> Commands:
    found = Commands(commands.about, default=commands.default)
    for name, one in commands.found.items():
        if isinstance(one, Command):
            found.found[name] = Command(_recorder(one.function), one.epilog)
        else:
            found.add(_recording(one), name)
    return found


def _recorder(function: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(function)
    def record(**given: object) -> object:
        return given

    return record


def read_by_typer(module: str, words: list[str]) -> object:
    """What the command was given; None: typer refused."""
    try:
        return as_typer_reads(module).main(list(words), standalone_mode=False)
    except (TyperException, typer.Exit, SystemExit):
        return None


def read_alone(module: str, words: list[str]) -> object:
    """The same without typer; None: the line is typer's."""
    call = read(load([module]), list(words))
    if call is None:
        return None
    assert isinstance(call, functools.partial)
    parameters = inspect.signature(call.func).parameters.values()
    defaults = {one.name: one.default for one in parameters if one.default is not one.empty}
    return defaults | call.keywords


def paths(commands: Commands, *before: str) -> Iterator[tuple[tuple[str, ...], Command]]:
    for name, one in commands.found.items():
        if isinstance(one, Command):
            yield (*before, name), one
        else:
            yield from paths(one, *before, name)


def texts(known: Known) -> list[str]:
    kind = known._kind
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(member.value) for member in kind]
    least = known.declared.given.get("min")
    return TEXTS[kind] if least is None or least <= 3 else [str(least)]


def lines(path: tuple[str, ...], command: Command) -> Iterator[list[str]]:
    """Each option alone beside the arguments, in each way to write it; and none."""
    known = known_of(command.function)
    needed = [one for one in known if one.is_argument]
    begin = [*path, *(texts(one)[0] for one in needed)]
    yield begin
    for one in known:
        for spelt, flag in one.spellings():
            if flag is not None:
                yield [*begin, spelt]
                continue
            for text in texts(one):
                yield [*path, spelt, text, *begin[len(path) :]]
                if spelt.startswith("--"):
                    yield [*begin, f"{spelt}={text}"]
            if one.is_list:
                yield [*begin, spelt, texts(one)[0], spelt, texts(one)[0]]


@pytest.mark.parametrize("module", list(COMMANDS))
def test_each_option_of_each_command_means_the_same(module: str) -> None:
    for path, command in paths(load([module])):
        options = [one for one in known_of(command.function) if not one.is_argument]
        asked = [*lines(path, command)]
        assert len(asked) > len(options)
        for words in asked:
            by_typer = read_by_typer(module, words)
            if by_typer is not None:
                assert (words, by_typer) == (words, read_alone(module, words))


WORDS = [
    *("--board", "-b", "--mode", "-m", "test", "profile", "--device", "-d", "CPU", "--json"),
    *("--no-wait", "--board=x", "-mtest", "-m=test", "--", "-", "file.py", "--help", "-h", ""),
    *("--bo", "--late", "--url", "--device=", "TEST", "7", "--json=1", "\udcff"),
]
LIMITS = ["--limit", "0", "1", "100", "101", "007", "1_0", "+3", "-3", " 4", "5.0", "x", "--offset"]


@given(st.lists(st.sampled_from(WORDS), max_size=7))
@settings(max_examples=examples(200))
def test_what_typer_refuses_or_asks_about_is_left_to_typer(words: list[str]) -> None:
    line = ["submit", *words]
    alone = read_alone("submitting", line)
    if alone is not None:
        assert read_by_typer("submitting", line) == alone


@given(st.lists(st.sampled_from(LIMITS), max_size=5))
@settings(max_examples=examples(200))
def test_a_number_is_within_its_bounds(words: list[str]) -> None:
    line = ["board", "show", "sort", *words]
    alone = read_alone("boards", line)
    if alone is not None:
        assert read_by_typer("boards", line) == alone


def test_a_line_without_questions_is_read_alone() -> None:
    line = ["submit", "a.py", "-b", "x", "--mode=test", "--json"]
    found = read_alone("submitting", line)
    assert isinstance(found, dict)
    assert ("x", True) == (found["board"], found["as_json"])


@pytest.mark.parametrize(
    "line", [[], ["board"], ["board", "shw"], ["--help"], ["board", "show"], ["-x", "board"]]
)
def test_what_is_no_command_yet_is_left_to_typer(line: list[str]) -> None:
    assert read(load(["boards"]), line) is None


def test_a_variable_that_may_say_it_is_left_to_typer(monkeypatch: pytest.MonkeyPatch) -> None:
    line = ["run", "problem", "file.py"]
    assert read_alone("judging", line) is not None
    monkeypatch.setenv("KERNELBOT_COLD", "1")
    assert read_alone("judging", line) is None


def test_a_file_that_cannot_be_read_is_left_to_typer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    assert read_alone("submitting", ["submit", __file__, "--board", "x"]) is None
    assert read_alone("submitting", ["submit", "nothing.py", "--board", "x"]) is not None


@pytest.mark.parametrize("module", COMMANDS)
def test_what_finds_completions_takes_what_both_readers_give(module: str) -> None:
    """What is typed, under the name by which typer knows that it is asked for that."""
    for path, command in paths(load([module])):
        for known in known_of(command.function):
            complete = known.declared.given.get("autocompletion")
            if complete is not None:
                assert ["incomplete"] == list(inspect.signature(complete).parameters), path
