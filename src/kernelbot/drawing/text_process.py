"""The program that colours source code and compares files.

A process of its own, since both take very long for texts that were made for it, and neither can be
interrupted. A request has `code` and `suffix`, or `before`, `after` and `names`; the answer is a
JSON list of lines, of HTML or of a unified diff.
"""

import json
from collections.abc import Iterable
from typing import Any

from kernelbot.drawing.differences import between
from kernelbot.drawing.serving import serve
from kernelbot.protocol import Lang

_MEMORY_BYTES = 512 << 20
_LEXERS = {
    ".h": "cpp",
    ".hpp": "cpp",
    ".yml": "yaml",
    **{suffix: lang.lexer for lang in Lang for suffix in lang.suffixes},
}
"""Pygments' names for what is coloured, by the ending of a file's name."""


def _lines(request: dict[str, Any]) -> bytes:
    found = _coloured(request) if "code" in request else _compared(request)
    return json.dumps(list(found)).encode()


def _compared(request: dict[str, Any]) -> Iterable[str]:
    first, second = request["names"]
    return between(request["before"], request["after"], first, second)


def _coloured(request: dict[str, Any]) -> Iterable[str]:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import find_lexer_class_by_name
    from pygments.lexers.special import TextLexer

    # All of them each time, so that the first call, before this is confined, loads all.
    lexers = {suffix: find_lexer_class_by_name(name) for suffix, name in _LEXERS.items()}
    lexer = lexers.get(request["suffix"], TextLexer)(stripnl=False, ensurenl=False)
    formatter = HtmlFormatter(nowrap=True)  # closes its elements at the end of each line
    return highlight(request["code"], lexer, formatter).removesuffix("\n").split("\n")


if __name__ == "__main__":
    _lines({"code": "", "suffix": ".py"})  # loads the library, whose time is nobody's
    serve(_lines, _MEMORY_BYTES, as_nobody=True)
