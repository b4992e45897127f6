"""Splits C++ into tokens: comments, strings and raw strings are one each, and nothing is lost."""

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class SourceTokenKind(Enum):
    """What a token is."""

    SPACE = "space"
    """White space, and comments."""
    NAME = "name"
    NUMBER = "number"
    TEXT = "text"
    """A string or character literal."""
    SIGN = "sign"
    """An operator or a bracket. `<<<` and `>>>` are one, `<` and `>` are else each by itself."""


class SourceToken(NamedTuple):
    """A piece of the text."""

    kind: SourceTokenKind
    text: str
    line: int
    """From 1."""


_PATTERNS = (
    ("space", r"(?:\s|\\\r?\n)+|//(?:[^\\\n]|\\.)*"),
    ("comment", r"/\*"),
    ("raw", r'(?:u8|[uUL])?R"[^()\\\s"]{0,16}\('),
    ("text", r"""(?:u8|[uUL])?(?:"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)"""),
    ("number", r"\.?\d(?:[eEpP][+-]|'\w|[\w.])*"),
    ("name", r"[^\W\d]\w*"),
    ("sign", r"<<<|>>>|::|->|<=|>=|&&|\|\||."),
)
_TOKEN = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _PATTERNS), re.DOTALL)
_KINDS = {
    "space": SourceTokenKind.SPACE,
    "comment": SourceTokenKind.SPACE,
    "raw": SourceTokenKind.TEXT,
    "text": SourceTokenKind.TEXT,
    "number": SourceTokenKind.NUMBER,
    "name": SourceTokenKind.NAME,
    "sign": SourceTokenKind.SIGN,
}


def tokenize(text: str, first_line: int = 1) -> list[SourceToken]:
    """All tokens, in order: their texts together are `text`.

    A literal that is never closed ends with its line, and anything else with the text."""
    return list(_tokens(text, first_line))


def _tokens(text: str, line: int) -> Iterator[SourceToken]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        assert found is not None, "the last pattern matches any character"
        name = str(found.lastgroup)
        end = found.end()
        if name == "comment":
            end = _end_of(text, "*/", end)
        elif name == "raw":
            delimiter = found[0].partition('"')[2][:-1]
            end = _end_of(text, f'){delimiter}"', end)
        piece = text[at:end]
        yield SourceToken(_KINDS[name], piece, line)
        line += piece.count("\n")
        at = end


def _end_of(text: str, closing: str, at: int) -> int:
    found = text.find(closing, at)
    return len(text) if found < 0 else found + len(closing)
