"""Two sources are the same code if they differ in layout and comments alone."""

import hashlib
import io
import re
import tokenize
from collections.abc import Iterator

from kernelbot.protocol import Lang

_LAYOUT = frozenset((tokenize.COMMENT, tokenize.NL))
_MARKS = {tokenize.NEWLINE: "\n", tokenize.INDENT: "\n+", tokenize.DEDENT: "\n-"}
"""What of the layout is part of a Python program, however it is written."""

# A comment or string that never ends is one token, so that nothing is searched for twice.
_C = re.compile(
    r"""
    (?P<layout> \s+ | \\\r?\n | //[^\n]* | /\*(?:[^*]|\*(?!/))*(?:\*/)? )
    | R"(?P<mark>[^()\\\s]{0,16})\((?:.*?\)(?P=mark)"|.*)
    | "(?:[^"\\\n]|\\.)*"?
    | '(?:[^'\\\n]|\\.)*'?
    | \d(?:'?\w)*
    | \w+
    | .
    """,
    re.DOTALL | re.VERBOSE,
)


def code_digest(source: str, lang: Lang) -> bytes:
    """A digest of 32 bytes, equal for sources that are the same code. Text that can't be read as
    code is compared by its lines, without empty lines and without white space at line ends."""
    try:
        tokens = list(_python(source) if lang is Lang.PY else _c(source))
    except (tokenize.TokenError, SyntaxError):
        tokens = []
    if not any(token.strip() for token in tokens):
        tokens = [line for line in map(str.strip, source.splitlines()) if line]
    return hashlib.sha256("\0".join(tokens).encode()).digest()


def _python(source: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.ERRORTOKEN:  # each would be looked for to the line's end
            raise tokenize.TokenError(f"{token.string!r} is no token")
        if token.type not in _LAYOUT:
            yield _MARKS.get(token.type, token.string)


def _c(source: str) -> Iterator[str]:
    return (found[0] for found in _C.finditer(source) if found["layout"] is None)
