"""The documentation as a site: built once, in seconds."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from scripts.docs_site import build_site

from kernelbot.web.guide.contents import PLACES, navigation
from scripts import docs_site
from tests.support.exhaustive import cases

ELSEWHERE = re.compile(r"(?:https?:)?//(?!www\.w3\.org/)", re.ASCII)
LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*?\s(?:src|data|srcset)=\"?([^\s\">]+)"
    r"|<link\b(?![^>]*rel=\"?canonical)[^>]*?\shref=\"?([^\s\">]+)"
)
IMPORTED = re.compile(r"(?:url\(|@import )[\"']?([^)\"']+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("docs") / "build")


@pytest.mark.exhaustive  # each run has test_a_link_that_leads_nowhere_fails
def test_every_page_is_in_the_site_and_can_be_searched(site: Path) -> None:
    docs = docs_site.ROOT / "docs"
    pages = {str(file.relative_to(docs)) for file in docs.rglob("*.md")}
    built = {name.removesuffix(".md") + ".html" for name in pages}
    built = {name.replace("README.html", "index.html") for name in built}
    assert [] == sorted(name for name in built if not (site / name).is_file())
    index = (site / "search.json").read_text()
    assert [] == sorted(name for name in built - {"index.html"} if name[:-10] not in index)


@pytest.mark.exhaustive  # each run has test_pages_load_only_what_this_server_has (web/guide)
def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    found = [
        f"{file.relative_to(site)}: {address}"
        for file in site.rglob("*")
        if file.suffix in (".html", ".css")
        for pattern in ((LOADED,) if file.suffix == ".html" else (IMPORTED,))
        for groups in pattern.findall(file.read_text())
        for address in ([groups] if isinstance(groups, str) else groups)
        if ELSEWHERE.match(address)
    ]
    assert [] == found


@pytest.mark.parametrize(
    "link", cases(["nothing.md", "glossary.md#nothing"], always=["nothing.md"])
)
def test_a_link_that_leads_nowhere_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    shutil.copy(docs_site.ROOT / "zensical.toml", tmp_path)
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "README.md").write_text(f"# Here\n\n[there]({link})\n")
    for page in PLACES:
        (docs / page).write_text("# A page\n")
    monkeypatch.setattr(docs_site, "ROOT", tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        build_site(tmp_path / "build")


def test_sections_are_the_folders_with_their_readme_first(tmp_path: Path) -> None:
    for name in ("README.md", "decisions/README.md", "decisions/0001-a.md", "how-to/b.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("# A page\n")
    found = dict(navigation(tmp_path))
    assert (["decisions/README.md", "decisions/0001-a.md"], ["how-to/b.md", "operating.md"]) == (
        found["Decisions"],
        found["How to"],
    )


@pytest.mark.parametrize("name", ["lost.md", "new-folder/lost.md"])
def test_a_page_without_a_section_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("# Lost\n")
    with pytest.raises(ValueError, match=name):
        navigation(tmp_path)
