"""What a shell asks at a press of a key, and how it is answered: in typer's form, without typer.

typer has rich take marks out of the sentences beside the words, and wrap these to the terminal. A
sentence that has no marks is wrapped here; any other is typer's.
"""

import os
from collections.abc import Sequence

from kernelbot.cli.names import COMPLETES
from kernelbot.cli.well_formed import require

Offer = tuple[str, str | None]
"""A word, and the sentence beside it."""
_QUOTES = frozenset("'\"\\")
_USUAL_COLUMNS = 80
_LONGEST_SHORT = 45
_IN_ZSH = {'"': '""', "'": "''", "$": "\\$", "`": "\\`", ":": r"\\:"}


def asked() -> tuple[list[str], str]:
    """The words after `kernelbot` that are there, and the one that is being typed. Raises
    `Unclear`, LookupError or ValueError if typer has to find them."""
    if _shell() == "bash":
        line = os.environ.get("COMP_WORDS", "")
        place = int(os.environ["COMP_CWORD"])
        words = line.split()
        require(place > 0)
        typed = words[place] if place < len(words) else ""
        before = words[1:place]
    else:
        line = os.environ.get("_TYPER_COMPLETE_ARGS", "")
        before = line.split()[1:]
        typed = before.pop() if before and not line.endswith(" ") else ""
    require(not _QUOTES & set(line) and line.isprintable())
    return before, typed


def answer(offers: Sequence[Offer]) -> tuple[str | None, int]:
    """What is printed, if anything, and the exit code. Raises `Unclear`."""
    shell = _shell()
    if shell == "bash":
        return "\n".join(word for word, _ in offers), 0
    if shell == "zsh":
        rows = "\n".join(_in_zsh(*offer) for offer in offers)
        return (f"_arguments '*: :(({rows}))'" if rows else "_files"), 0
    action = os.environ.get("_TYPER_COMPLETE_FISH_ACTION")
    require(action in ("get-args", "is-args"))
    rows = "\n".join(_in_fish(*offer) for offer in offers)
    return (rows, 0) if action == "get-args" else (None, 0 if rows else 1)


def short(sentences: str) -> str:
    """The first sentence of a command's help, cut as typer cuts it."""
    words = sentences.partition("\n\n")[0].split()
    fitting, length = list[str](), -1
    for word in words:
        length += 1 + len(word)
        if length > _LONGEST_SHORT:
            break
        fitting.append(word)
        if word.endswith(".") or len(fitting) == len(words):
            return " ".join(fitting)
    while fitting and len(" ".join(fitting)) + len("...") > _LONGEST_SHORT:
        fitting.pop()
    return " ".join(fitting) + "..." if words else ""


def _shell() -> str:
    kind, _, shell = os.environ.get(COMPLETES, "").partition("_")
    require(kind == "complete" and shell in ("bash", "zsh", "fish"))
    return shell


def _in_zsh(word: str, sentence: str | None) -> str:
    shown = f'"{_escaped(word)}"'
    return f'{shown}:"{_without_marks(_escaped(sentence))}"' if sentence else shown


def _in_fish(word: str, sentence: str | None) -> str:
    return f"{word}\t{_without_marks(sentence)}" if sentence else word


def _escaped(text: str) -> str:
    return "".join(_IN_ZSH.get(letter, letter) for letter in text)


def _without_marks(text: str) -> str:
    """The text as rich shows it in a terminal: an icon is written between two colons, a style
    between brackets."""
    require(text.isascii() and text.isprintable() and "[" not in text and text.count(":") <= 1)
    width = _columns()
    lines, line = list[str](), ""
    for word in text.split(" "):
        require(0 < len(word) <= width)
        if len(line) + len(word) > width:
            lines.append(line[:width])
            line = ""
        line += f"{word} "
    return "\n".join([*lines, line[:-1]])


def _columns() -> int:
    """How wide rich takes the terminal to be."""
    require(
        os.environ.get("TERM") not in ("dumb", "unknown") and "TERMINAL_WIDTH" not in os.environ
    )
    if (said := os.environ.get("COLUMNS", "")).isdigit():
        require(said.isascii() and int(said) > 0)
        return int(said)
    for descriptor in range(3):
        try:
            return os.get_terminal_size(descriptor).columns or _USUAL_COLUMNS
        except OSError:
            continue
    return _USUAL_COLUMNS
