"""`#!POPCORN` lines in the first comment block of a submission."""

import re

from kernelbot.domain.errors import InvalidSubmission
from kernelbot.protocol.late import dataclass

_LINE = re.compile(r"^(?:#|//)!POPCORN\b[ \t]*(.*)$")
_COMMENT = re.compile(r"^\s*(?:#|//|$)")
_HINT = "Write `#!POPCORN leaderboard NAME` or `#!POPCORN gpu NAME` (`//!POPCORN` in C++)."


@dataclass(frozen=True)
class Directives:
    """What a file's directives say. `board` None and `devices` empty if they say nothing."""

    board: str | None = None
    devices: tuple[str, ...] = ()


def read_directives(code: str) -> Directives:
    """The directives of a file. Raises `InvalidSubmission` for unknown, doubled, empty ones."""
    board: str | None = None
    devices: tuple[str, ...] = ()
    for line in code.removeprefix("\ufeff").splitlines():
        if not _COMMENT.match(line):
            break
        found = _LINE.match(line)
        if found is None:
            continue
        key, words = _split(found[1])
        if key == "leaderboard":
            if board is not None or len(words) != 1:
                raise _mistake("names more than one leaderboard")
            board = words[0]
        elif key in ("gpu", "gpus"):
            if devices:
                raise _mistake("names its devices twice")
            devices = tuple(dict.fromkeys(words))
        else:
            raise _mistake(f"holds the unknown directive {key!r}")
    return Directives(board, devices)


def _split(text: str) -> tuple[str, list[str]]:
    key, *words = text.split() or [""]
    if not key or not words:
        raise _mistake("holds an empty directive")
    return key.lower(), words


def _mistake(what: str) -> InvalidSubmission:
    return InvalidSubmission(f"The file {what}.", hint=_HINT)
