"""The README's pictures."""

import re
from pathlib import Path

import pytest
from rich.text import Text
from scripts.readme_pictures import THEMES, as_svg

from tests.test_repository import ROOT

README = (ROOT / "README.md").read_text()
PICTURES = sorted(set(re.findall(r'(?:srcset|src)="([^"]+)"', README)))
FROM_ELSEWHERE = re.compile(r"(?:href|src|url)\s*[=(]\s*[\"']?(?!#)|@font-face|@import")


def test_both_pictures_are_there_for_light_and_dark_pages() -> None:
    dark = re.findall(r'<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)"', README)
    light = re.findall(r'<img src="([^"]+)" alt="[^"]{20,}"', README)
    assert 2 == len(dark)
    assert [name.replace("dark", "light") for name in dark] == light


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_small_and_whole(name: str) -> None:
    content = (ROOT / name).read_bytes()
    assert 1000 < len(content) < 150_000
    if Path(name).suffix == ".svg":
        assert [] == FROM_ELSEWHERE.findall(content.decode())


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_what_a_terminal_showed_is_drawn_without_fonts_from_elsewhere(theme: object) -> None:
    drawn = as_svg(Text.from_ansi("\x1b[32m✓\x1b[0m accepted <b>"), theme)  # type: ignore[arg-type]
    assert ("accepted" in drawn, "<b>" in drawn) == (True, False)
    assert [] == FROM_ELSEWHERE.findall(drawn)
