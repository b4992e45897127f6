"""What a shell offers for a word that is being typed, found without typer: somebody waits for it at
each press of a key, and to load typer takes longer than all else."""

from collections.abc import Iterable

from kernelbot.cli.declaring import Command, Commands, load
from kernelbot.cli.names import AUDIENCES, COMMANDS
from kernelbot.cli.shells import Offer, answer, asked, short
from kernelbot.cli.well_formed import Known, Unclear, known_of, require

_HELP = ("--help", "-h")
_OF_HELP = "Show this message and exit."


def answered() -> tuple[str | None, int] | None:
    """What is printed for the shell, if anything, and the exit code; None if typer has to find
    that."""
    try:
        before, typed = asked()
        require("=" not in typed)
        return answer(_of_names(before, typed))
    except (LookupError, ValueError, Unclear):
        return None


def _of_names(words: list[str], typed: str) -> list[Offer]:
    """What stands at the beginning: all commands are known by name."""
    if not words:
        require(typed[:1].isalnum() or not typed)
        known = {name: said for names in COMMANDS.values() for name, said in names.items()}
        first = [name for names in AUDIENCES.values() for name in names]
        sorted_names = dict.fromkeys([*first, *known])
        return _beginning(((name, short(known[name])) for name in sorted_names), typed)
    modules = [module for module, names in COMMANDS.items() if words[0] in names]
    require(bool(modules))
    return _of_commands(load(modules), words, typed)


def _of_commands(commands: Commands, words: list[str], typed: str) -> list[Offer]:
    if not words:
        require(typed[:1].isalnum() or not typed)
        offers = ((name, short(_help_of(one))) for name, one in commands.found.items())
        return _beginning(offers, typed)
    found = commands.found.get(words[0])
    if isinstance(found, Command):
        return _of_command(known_of(found.function), words[1:], typed)
    require(found is not None)
    assert found is not None
    return _of_commands(found, words[1:], typed)


def _help_of(command: Command | Commands) -> str:
    return (command.function.__doc__ if isinstance(command, Command) else command.about) or ""


def _of_command(known: list[Known], words: list[str], typed: str) -> list[Offer]:
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
            (spelt, one.declared.given.get("help"))
            for spelt, (one, _) in options.items()
            if one.is_list or one.name not in given
        ]
        return _beginning([*free, *((spelt, _OF_HELP) for spelt in _HELP)], typed)
    require(not typed or typed[0].isalnum())
    wanted = wanted or (arguments[0] if arguments else None)
    return _of_value(wanted, typed) if wanted is not None else []


def _of_value(known: Known, typed: str) -> list[Offer]:
    complete = known.declared.given.get("autocompletion")
    if complete is None:
        return _beginning(((word, None) for word in known.words()), typed)
    found = complete(typed)
    return _beginning(((one, None) if isinstance(one, str) else one for one in found), typed)


def _beginning(offers: Iterable[Offer], typed: str) -> list[Offer]:
    return [offer for offer in offers if offer[0].startswith(typed)]
