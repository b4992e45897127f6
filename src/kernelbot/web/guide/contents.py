"""Which pages the documentation has, in which order, and where each is."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

FOLDER = Path(__file__).with_name("text")
"""`docs/`: a link to it in a checkout, the files themselves where a wheel was installed."""
ROOT = "/guide"
OVERVIEW = "README.md"
SECTIONS = {
    "Tutorial": "tutorial",
    "How to": "how-to",
    "Lend a machine": "vendors",
    "Reference": "reference",
    "Explanation": "explanation",
    "Decisions": "decisions",
}
PLACES = {"operating.md": "How to", "glossary.md": "Reference", "architecture.md": "Explanation"}
"""The sections of pages that are in no folder."""


def navigation(docs: Path) -> list[tuple[str, list[str]]]:
    """The sections with their pages, each page's path relative to `docs`, a folder's README first.
    Raises `ValueError` for a page that belongs to no section."""
    found = {title: _pages(docs, folder) for title, folder in SECTIONS.items()}
    for page, title in PLACES.items():
        found[title].append(page)
    placed = {page for pages in found.values() for page in pages} | {OVERVIEW}
    lost = sorted({str(file.relative_to(docs)) for file in docs.rglob("*.md")} - placed)
    if lost:
        raise ValueError(f"No section in kernelbot.web.guide.contents has {', '.join(lost)}.")
    return list(found.items())


def _pages(docs: Path, folder: str) -> list[str]:
    files = sorted((docs / folder).glob("*.md"), key=lambda file: (file.name != OVERVIEW, file))
    return [str(file.relative_to(docs)) for file in files]


def _is_hidden(path: Path) -> bool:
    """Whether a part of a path below `docs/` begins with a dot."""
    return any(part.startswith(".") for part in path.parts)


def address(page: str) -> str:
    """Where a page is, by its path below `docs/`: a folder's README is the folder itself."""
    folder = page.removesuffix(".md").removesuffix(OVERVIEW.removesuffix(".md")).rstrip("/")
    return f"{ROOT}/{folder}" if folder else ROOT


@dataclass(frozen=True)
class PageLink:
    """A page in the navigation. `path`: below `docs/`."""

    path: str
    title: str

    @property
    def address(self) -> str:
        return address(self.path)


@dataclass(frozen=True)
class GuideSection:
    """Pages of one kind, not empty."""

    title: str
    pages: tuple[PageLink, ...]


class Contents:
    """The files of the documentation, found once."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    @cached_property
    def sections(self) -> tuple[GuideSection, ...]:
        """All pages but the overview, by section."""
        found = navigation(self._folder)
        return tuple(
            GuideSection(title, tuple(self._links(pages))) for title, pages in found if pages
        )

    @cached_property
    def pages(self) -> dict[str, str]:
        """The pages' paths below `docs/` by their addresses."""
        all_of_them = (page for _, pages in navigation(self._folder) for page in pages)
        return {address(page): page for page in (OVERVIEW, *all_of_them)}

    @cached_property
    def files(self) -> dict[str, str]:
        """The paths below `docs/` of pictures and other files, by their addresses: none that is
        hidden or in a hidden folder."""
        found = [file for file in self._folder.rglob("*.*") if file.is_file()]
        paths = [file.relative_to(self._folder) for file in found]
        names = [str(path) for path in paths if not _is_hidden(path) and path.suffix != ".md"]
        return {f"{ROOT}/{name}": name for name in names}

    def text(self, path: str) -> str:
        """A page's Markdown. Blocks."""
        return (self._folder / path).read_text()

    def content(self, path: str) -> bytes:
        """A file's bytes. Blocks."""
        return (self._folder / path).read_bytes()

    def _links(self, pages: Iterable[str]) -> Iterable[PageLink]:
        for page in pages:
            with (self._folder / page).open() as file:
                yield PageLink(page, file.readline().removeprefix("#").strip().replace("`", ""))
