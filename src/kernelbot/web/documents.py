"""Texts from elsewhere as HTML: statements in Markdown, and source code."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import nh3
from fastapi import Depends, Request
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from kernelbot.drawing.texts import Texts
from kernelbot.render.text import printable, shorten

_TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p"),
    *("pre", "s", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_STATEMENT_CHARACTERS = 100_000
_SHOWN_LINES = 5_000
_HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}
"""A statement's headings are below the page's own."""


def statement(text: str) -> Markup:
    """A problem's statement. HTML in it is shown as text; addresses that aren't of the web, and
    pictures, are left out."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = markdown.parse(printable(shorten(text, _STATEMENT_CHARACTERS)))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = _HEADINGS[token.tag]
    html = markdown.renderer.render(tokens, markdown.options, {})
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener noreferrer",
    )
    return Markup(clean)  # noqa: S704  # cleaned just now


def excerpt(code: str, characters: int) -> str:
    """The part of a file that is shown: so many characters, and not too many lines."""
    lines = code[:characters].split("\n", _SHOWN_LINES)
    return "\n".join(lines[:_SHOWN_LINES])


Remarks = Mapping[int, Sequence[str]]
"""What is said below lines of a file, by their numbers."""


async def source(
    texts: Texts,
    code: str,
    file_name: str,
    *,
    asker: int | None = None,
    remarks: Remarks | None = None,
) -> Markup:
    """Source code, which account `asker` looks at. Each line is an element of its own, which the
    style numbers; with colours, unless finding them takes too long."""
    found = await coloured_source(texts, code, file_name, asker=asker, remarks=remarks)
    return found or plain_source(code, remarks)


async def coloured_source(
    texts: Texts,
    code: str,
    file_name: str,
    *,
    asker: int | None = None,
    remarks: Remarks | None = None,
) -> Markup | None:
    """The source in colours; None without them, which may be there the next time."""
    plain = _lines_of(code)
    coloured = await texts.coloured("\n".join(plain), file_name, asker=asker)
    if coloured is None or len(coloured) != len(plain):
        return None
    return _in_lines(coloured, remarks)  # escaped by the formatter


def _lines_of(code: str) -> list[str]:
    return printable(code).removesuffix("\n").split("\n")


def plain_source(code: str, remarks: Remarks | None = None) -> Markup:
    return _in_lines(str(escape("\n".join(_lines_of(code)))).split("\n"), remarks)


def _in_lines(lines: list[str], remarks: Remarks | None = None) -> Markup:
    shown = (_line(number, line, remarks or {}) for number, line in enumerate(lines, 1))
    return Markup("\n".join(shown))  # noqa: S704  # each line is escaped


def _line(number: int, line: str, remarks: Remarks) -> str:
    said = remarks.get(number, ())
    kind = "line wrong-line" if said else "line"
    below = "".join(f'\n<span class="remark">{escape(one)}</span>' for one in said)
    return f'<span class="{kind}" id="L{number}">{line}</span>{below}'


def texts_of(request: Request) -> Texts:
    found = request.app.state.texts
    assert isinstance(found, Texts)
    return found


TextsDep = Annotated[Texts, Depends(texts_of)]
