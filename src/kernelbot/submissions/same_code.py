"""Two sources are the same code if they differ in what a parser ignores, and in names, alone."""

import contextlib
import hashlib
import io
import re
import tokenize
from collections.abc import Iterable, Iterator

from kernelbot.protocol import Lang
from kernelbot.submissions.same_python import normal_form

_BOM = "\ufeff"
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


_MOST_PARSED = 1 << 16
"""Characters of Python. A syntax tree takes some hundred times the memory of its source, and this
much takes up to half a second of a processor; Python's tokens alone, of the longest submission,
took 2.6 s."""


def code_digest(source: str, lang: Lang) -> bytes:
    """A digest of 32 bytes, equal for sources that are the same code. Python is the same whatever
    it calls its own variables and functions; C and C++ are compared by their tokens. Text that
    can't be read as code is compared by its lines, without empty lines and without white space at
    their ends, and so is Python that is very long, but for what its lines begin with."""
    source = source.removeprefix(_BOM)
    if lang is Lang.PY and len(source) > _MOST_PARSED:
        return _by_lines(map(str.rstrip, source.splitlines()))
    if lang is Lang.PY:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            if form := normal_form(source):
                return hashlib.sha256(form.encode(errors="surrogatepass")).digest()
    return _by_tokens(source, lang)


def _by_tokens(source: str, lang: Lang) -> bytes:
    try:
        tokens = list(_python(source) if lang is Lang.PY else _c(source))
    except (tokenize.TokenError, SyntaxError):
        tokens = []
    if not any(token.strip() for token in tokens):
        return _by_lines(map(str.strip, source.splitlines()))
    return _of(tokens)


def _by_lines(lines: Iterable[str]) -> bytes:
    return _of(line for line in lines if line)


def _of(tokens: Iterable[str]) -> bytes:
    return hashlib.sha256("\0".join(tokens).encode(errors="surrogatepass")).digest()


def _python(source: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.ERRORTOKEN:  # each would be looked for to the line's end
            raise tokenize.TokenError(f"{token.string!r} is no token")
        if token.type not in _LAYOUT:
            yield _MARKS.get(token.type, token.string)


def _c(source: str) -> Iterator[str]:
    return (found[0] for found in _C.finditer(source) if found["layout"] is None)
