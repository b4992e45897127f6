"""Statements and source code as HTML."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.drawing.texts import Texts
from kernelbot.web.documents import excerpt, plain_source, source, statement


class Plain(Texts):
    """Without colours."""

    async def coloured(self, code: str, file_name: str, *, asker: int | None = None) -> None:
        return None


@pytest.fixture
async def texts() -> AsyncIterator[Texts]:
    found = Texts(patience_s=60)
    yield found
    await found.close()


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("*a*", "<p><em>a</em></p>"),
        ("# Title", "<h3>Title</h3>"),
        ("<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("[x](data:text/html,x)", "[x](data:text/html,x)"),
        ("![x](https://evil.example/x.png)", "<p></p>"),
        ('<img src=x onerror="x">', "&lt;img"),
        ("|a|b|\n|-|-|\n|1|2|", "<td>1</td>"),
        ("a\u202eb", "a\\u202eb"),
        ("a\x00b", "a\\x00b"),
    ],
)
def test_a_statement_is_markdown_and_nothing_more(markdown: str, html: str) -> None:
    assert html in statement(markdown)


def test_links_of_a_statement_say_nothing_of_us() -> None:
    text = statement("[x](https://example.org/)")
    assert 'rel="nofollow noopener noreferrer"' in text


@given(st.text(max_size=300))
def test_no_statement_makes_an_element_of_its_own(text: str) -> None:
    lower = statement(text).lower()
    assert not any(tag in lower for tag in ("<script", "<img", "<iframe", "<style", "<svg"))


def test_what_is_said_of_a_line_is_below_it_and_stays_text() -> None:
    found = plain_source("a\nb\n", {2: ["<b>"]})
    assert (
        '<span class="line" id="L1">a</span>\n<span class="line wrong-line" id="L2">b</span>\n'
        '<span class="remark">&lt;b&gt;</span>'
    ) == found


@given(st.text(max_size=300), st.sampled_from(["a.py", "a.cu", "a.cpp", "a.yml", "a", "<.x"]))
def test_every_line_of_code_is_there_once(code: str, name: str) -> None:
    lines = code.replace("\r", "").removesuffix("\n").split("\n")
    html = asyncio.run(source(Plain(), code.replace("\r", ""), name))
    assert len(lines) == html.count('class="line"')


async def test_colours_are_shown_if_there_are_some(texts: Texts) -> None:
    html = await source(texts, "import os\nx = '<script>'\n", "a.py")
    assert (2, True, False) == (html.count('class="line"'), 'class="kn"' in html, "<script" in html)


@pytest.mark.parametrize("code", ["x" * 100_000, "x = 1\n" * 20_000, "'<script>'", "\x00\u202e"])
async def test_large_and_hostile_code_is_text(texts: Texts, code: str) -> None:
    html = await source(texts, code, "a.py")
    assert (False, False) == ("<script" in html, "\u202e" in html)


def test_a_file_of_line_breaks_is_shown_in_part() -> None:
    assert (5_000 - 1, "a\nb\n") == (
        excerpt("\n" * 100_000, 100_000).count("\n"),
        excerpt("a\nb\n", 9),
    )
