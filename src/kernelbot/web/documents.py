"""Texts from elsewhere as HTML: statements in Markdown, and source code."""

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer, CudaLexer, PythonLexer, YamlLexer
from pygments.lexers.special import TextLexer

from kernelbot.render.text import printable, shorten

_TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p"),
    *("pre", "s", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_STATEMENT_CHARACTERS = 100_000
_HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}
"""A statement's headings are below the page's own."""
_COLOURED_CHARACTERS = 60_000
"""Larger files are shown without colours: finding them takes a second for a megabyte."""
_COLOURED_LINE = 2_000
_LEXERS = {
    ".py": PythonLexer,
    ".cu": CudaLexer,
    ".cuh": CudaLexer,
    ".cpp": CppLexer,
    ".h": CppLexer,
    ".hpp": CppLexer,
    ".yml": YamlLexer,
}


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


def source(code: str, file_name: str) -> Markup:
    """Source code, each line in an element of its own, which the style numbers."""
    lines = _coloured(printable(code), file_name)
    return Markup("\n").join(
        Markup('<span class="line" id="L{}">{}</span>').format(number, line)
        for number, line in enumerate(lines, 1)
    )


def _coloured(code: str, file_name: str) -> list[Markup]:
    plain = code.removesuffix("\n").split("\n")
    longest = max(map(len, plain))
    if len(code) > _COLOURED_CHARACTERS or longest > _COLOURED_LINE:
        return [escape(line) for line in plain]
    suffix = "." + file_name.rpartition(".")[2].lower()
    lexer = _LEXERS.get(suffix, TextLexer)(stripnl=False, ensurenl=False)
    formatter = HtmlFormatter(nowrap=True)  # closes its elements at the end of each line
    html = highlight("\n".join(plain), lexer, formatter)
    return [Markup(line) for line in html.removesuffix("\n").split("\n")]  # noqa: S704  # escaped by it
