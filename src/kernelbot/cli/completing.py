"""What bash offers for a word that is being typed, found without typer: somebody waits for it at
each press of a key, and to load typer takes longer than all else."""

import os
from collections.abc import Iterable

from kernelbot.cli.declaring import Command, Commands, load
from kernelbot.cli.names import AUDIENCES, COMMANDS, COMPLETES
from kernelbot.cli.well_formed import Known, Unclear, known_of, require

_HELP = ("-h", "--help")
_QUOTES = frozenset("'\"\\")


def offers() -> list[str] | None:
    """What could stand for the word, in typer's order; None if typer has to find that."""
    line = os.environ.get("COMP_WORDS", "")
    if os.environ.get(COMPLETES) != "complete_bash" or _QUOTES & set(line):
        return None
    words = line.split()
    try:
        place = int(os.environ["COMP_CWORD"])
        typed = words[place] if place < len(words) else ""
        require(place > 0 and "=" not in typed)
        return _of_names(words[1:place], typed)
    except (LookupError, ValueError, Unclear):
        return None


def _of_names(words: list[str], typed: str) -> list[str]:
    """What stands at the beginning: all commands are known by name."""
    if not words:
        require(typed[:1].isalnum() or not typed)
        first = [name for names in AUDIENCES.values() for name in names]
        known = [name for names in COMMANDS.values() for name in names]
        return _beginning(dict.fromkeys([*first, *known]), typed)
    modules = [module for module, names in COMMANDS.items() if words[0] in names]
    require(bool(modules))
    return _of_commands(load(modules), words, typed)


def _of_commands(commands: Commands, words: list[str], typed: str) -> list[str]:
    if not words:
        require(typed[:1].isalnum() or not typed)
        return _beginning(commands.found, typed)
    found = commands.found.get(words[0])
    if isinstance(found, Command):
        return _of_command(known_of(found.function), words[1:], typed)
    require(found is not None)
    assert found is not None
    return _of_commands(found, words[1:], typed)


def _of_command(known: list[Known], words: list[str], typed: str) -> list[str]:
    options = {spelt: (one, flag) for one in known for spelt, flag in one.spellings()}
    given = set[str]()
    arguments = [one for one in known if one.is_argument]
    wanted: Known | None = None  # the option whose value comes next
    for word in words:
        if wanted is not None:
            require(not word.startswith("-"))
            wanted = None
        elif word.startswith("-"):
            require(word in options)
            one, flag = options[word]
            given.add(one.name)
            wanted = one if flag is None else None
        elif arguments and not arguments[0].is_list:
            arguments.pop(0)
        else:
            require(bool(arguments))
    if typed.startswith("-"):
        require(wanted is None)
        free = [
            spelt for spelt, (one, _) in options.items() if one.is_list or one.name not in given
        ]
        return _beginning([*free, *_HELP], typed)
    require(not typed or typed[0].isalnum())
    wanted = wanted or (arguments[0] if arguments else None)
    return _of_value(wanted, typed) if wanted is not None else []


def _of_value(known: Known, typed: str) -> list[str]:
    complete = known.declared.given.get("autocompletion")
    if complete is None:
        return _beginning(known.words(), typed)
    found = (one if isinstance(one, str) else one[0] for one in complete(typed))
    return _beginning(found, typed)


def _beginning(words: Iterable[str], typed: str) -> list[str]:
    return [word for word in words if word.startswith(typed)]
