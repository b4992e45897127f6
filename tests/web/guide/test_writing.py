"""Markdown of the documentation as HTML."""

import pytest

from kernelbot.web.guide.contents import address
from kernelbot.web.guide.writing import target, written


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("README.md", "/guide"),
        ("glossary.md", "/guide/glossary"),
        ("decisions/README.md", "/guide/decisions"),
        ("how-to/slurm.md", "/guide/how-to/slurm"),
    ],
)
def test_a_readme_is_its_folder(page: str, expected: str) -> None:
    assert expected == address(page)


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("slurm.md", "/guide/how-to/slurm"),
        ("../README.md", "/guide"),
        ("../decisions/README.md#a", "/guide/decisions#a"),
        ("../img/flow.svg", "/guide/img/flow.svg"),
    ],
)
def test_relative_links_begin_at_their_page(link: str, expected: str) -> None:
    assert expected == target(link, "how-to/modal.md")


def test_links_to_elsewhere_and_within_the_page_stay() -> None:
    html = written("# A\n\n[b](https://c.example/d.md) [e](#a)\n", "README.md").html
    assert '<a href="https://c.example/d.md">' in html
    assert '<a href="#a">' in html


def test_headings_have_anchors_of_their_words_and_each_its_own() -> None:
    page = written("# A `b` page\n\n## C, d & é\n\n## C, d & é\n", "x.md")
    assert ("A b page", "a-b-page") == (page.title.title, page.title.id)
    assert ["c-d-e", "c-d-e_1"] == [one.id for one in page.parts]
    assert (2, False) == (page.html.count("<h2 id="), "<h1" in page.html)


def test_wide_parts_can_be_scrolled_with_the_keyboard() -> None:
    html = written("# A\n\n| b |\n|---|\n| c |\n\n```\nd\n```\n", "x.md").html
    assert 2 == html.count('tabindex="0"')


def test_the_head_of_a_column_that_says_nothing_is_a_cell() -> None:
    html = written("# A\n\n| | b |\n|---|---|\n| c | d |\n", "x.md").html
    assert (1, 3) == (html.count("<th>"), html.count("<td>"))


def test_html_is_text() -> None:
    assert "<script>" not in written("# A\n\n<script>alert(1)</script>\n", "x.md").html
