"""The first sentence of a problem's description, for where there is room for no more."""

import re
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kernelbot.render.text import cut, one_line

_LONGEST_CELLS = 160
_END = re.compile(r"[.!?](?=\s+[A-Z]|\s*$)")


def first_sentence(markdown: str) -> str:
    """The first sentence of the first paragraph, without Markdown's marks, cut at 160 cells; empty
    if there is no paragraph."""
    tokens = MarkdownIt("commonmark", {"html": False}).parse(markdown)
    for before, token in pairwise(tokens):
        if before.type == "paragraph_open" and before.level == 0:
            text = "".join(map(_text, token.children or ())).strip()
            if text:
                return cut(one_line(_to_its_end(text)), _LONGEST_CELLS)
    return ""


def _text(token: Token) -> str:
    return " " if token.type in ("softbreak", "hardbreak") else token.content


def _to_its_end(text: str) -> str:
    end = _END.search(text)
    return text[: end.end()] if end else text
