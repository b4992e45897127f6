"""Texts from elsewhere as HTML: statements in Markdown, and source code."""

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


async def source(texts: Texts, code: str, file_name: str) -> Markup:
    """Source code, each line in an element of its own, which the style numbers; with colours,
    unless finding them takes too long."""
    plain = printable(code).removesuffix("\n").split("\n")
    coloured = await texts.coloured("\n".join(plain), file_name)
    if coloured is None or len(coloured) != len(plain):
        lines = [escape(line) for line in plain]
    else:
        lines = [Markup(line) for line in coloured]  # noqa: S704  # escaped by the formatter
    return Markup("\n").join(
        Markup('<span class="line" id="L{}">{}</span>').format(number, line)
        for number, line in enumerate(lines, 1)
    )


def texts_of(request: Request) -> Texts:
    """This application's."""
    found = request.app.state.texts
    assert isinstance(found, Texts)
    return found


TextsDep = Annotated[Texts, Depends(texts_of)]
