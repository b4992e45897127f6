"""A page of the documentation as HTML: links lead to pages here, headings have anchors."""

import posixpath
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from kernelbot.web.guide.contents import ROOT, address

_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_NO_WORD = re.compile(r"[^\w\s-]")
_BETWEEN_WORDS = re.compile(r"[-\s]+")
_OF_A_HEADING = 3
"""Tokens: it begins, its text, it ends."""


@dataclass(frozen=True)
class Heading:
    """A part of a page. `id`: its anchor."""

    id: str
    title: str


@dataclass(frozen=True)
class WrittenPage:
    """A page as HTML, without its title. `parts`: its headings of the second level."""

    title: Heading
    html: Markup
    parts: tuple[Heading, ...]


def written(text: str, path: str) -> WrittenPage:
    """The page whose Markdown this is. `path`: below `docs/`, where its links begin."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = markdown.parse(text)
    headings = list(_with_anchors(tokens))
    for token in tokens:
        for child in token.children or ():
            _lead_here(child, path)
    _without_empty_heads(tokens)
    if tokens and tokens[0].tag == "h1":
        del tokens[:_OF_A_HEADING]
    html = markdown.renderer.render(list(_in_regions(tokens)), markdown.options, {})
    first = next((one for level, one in headings if level == "h1"), Heading("title", path))
    parts = tuple(one for level, one in headings if level == "h2")
    return WrittenPage(first, Markup(html), parts)  # noqa: S704  # our own text, without HTML


def _with_anchors(tokens: Sequence[Token]) -> Iterator[tuple[str, Heading]]:
    """Give each heading its anchor: the tags of the headings, with these."""
    taken = set[str]()
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open":
            title = "".join(
                child.content
                for child in content.children or ()
                if child.type in ("text", "code_inline")
            )
            heading = Heading(_anchor(title, taken), title)
            opening.attrSet("id", heading.id)
            yield opening.tag, heading


def _anchor(title: str, taken: set[str]) -> str:
    """The heading's id, which is not among those `taken` and is added to them. Made by the rules of
    the documentation site's generator, so that links fit both."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    wanted = _BETWEEN_WORDS.sub("-", _NO_WORD.sub("", plain).strip().lower())
    found, count = wanted, 0
    while not found or found in taken:
        count += 1
        found = f"{wanted}_{count}"
    taken.add(found)
    return found


def _lead_here(token: Token, path: str) -> None:
    """Turn a relative address in the page at `path` into one of this server."""
    for name in ("href", "src"):
        given = token.attrGet(name)
        if isinstance(given, str) and not given.startswith("#") and not _ELSEWHERE.match(given):
            token.attrSet(name, target(given, path))


def target(link: str, path: str) -> str:
    """Where a relative link of the page at `path` leads."""
    file, mark, anchor = link.partition("#")
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
    place = address(joined) if joined.endswith(".md") else f"{ROOT}/{joined}"
    return f"{place}{mark}{anchor}"


def _without_empty_heads(tokens: Sequence[Token]) -> None:
    """Turn heads of columns that say nothing into cells, which screen readers pass over."""
    for number, token in enumerate(tokens):
        if token.type == "th_open" and not tokens[number + 1].content:
            token.tag = tokens[number + 2].tag = "td"


def _in_regions(tokens: Sequence[Token]) -> Iterator[Token]:
    """With what may be wider than the page in elements that can be scrolled with the keyboard."""
    tables = 0
    for token in tokens:
        if token.type == "table_open":
            tables += 1
            yield _html(
                f'<div class="scroll" tabindex="0" role="region" aria-label="Table {tables}">'
            )
        if token.type in ("fence", "code_block"):
            yield _html('<div class="example" tabindex="0">')
        yield token
        if token.type == "table_close":
            yield _html("</div>")
        if token.type in ("fence", "code_block"):
            yield _html("</div>")


def _html(text: str) -> Token:
    return Token("html_block", "", 0, content=text)
