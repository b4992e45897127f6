"""`make docs`: the documentation as a site, in `build/docs/site`.

A link that leads nowhere fails it, also one to a heading. The navigation is made from the folders,
so that a new page needs no entry of its own.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECTIONS = {
    "Tutorial": "tutorial",
    "How to": "how-to",
    "Lend a machine": "vendors",
    "Reference": "reference",
    "Explanation": "explanation",
    "Decisions": "decisions",
}
PLACES = {
    "operating.md": "How to",
    "glossary.md": "Reference",
    "architecture.md": "Explanation",
}
"""The sections of pages that are in no folder."""


def navigation(docs: Path) -> list[tuple[str, list[str]]]:
    """The sections with their pages, each page's path relative to `docs`, a folder's README first.
    Raises `ValueError` for a page that belongs to no section."""
    found = {title: _pages(docs, folder) for title, folder in SECTIONS.items()}
    for page, title in PLACES.items():
        found[title].append(page)
    placed = {page for pages in found.values() for page in pages} | {"README.md"}
    lost = sorted({str(file.relative_to(docs)) for file in docs.rglob("*.md")} - placed)
    if lost:
        raise ValueError(f"No section of scripts/docs_site.py has {', '.join(lost)}.")
    return list(found.items())


def _pages(docs: Path, folder: str) -> list[str]:
    files = sorted((docs / folder).glob("*.md"), key=lambda file: (file.name != "README.md", file))
    return [str(file.relative_to(docs)) for file in files]


def build_site(target: Path) -> Path:
    """Build the site below `target`, which is emptied, and return its folder. Raises
    `CalledProcessError` if a link leads nowhere; what is wrong is on the standard output."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(ROOT / "docs", target / "docs")
    (target / "zensical.toml").write_text(_settings())
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--strict"]
    environment = os.environ | {"NO_COLOR": "1"}
    subprocess.run(command, cwd=target, env=environment, check=True)
    return target / "site"


def _settings() -> str:
    """The settings with the navigation in them."""
    sections = [
        f"{{ {json.dumps(title)} = {json.dumps(pages)} }}"
        for title, pages in navigation(ROOT / "docs")
    ]
    entries = ['{ "Overview" = "README.md" }', *sections]
    settings = (ROOT / "zensical.toml").read_text()
    return settings.replace("[project]\n", f"[project]\nnav = [{', '.join(entries)}]\n", 1)


if __name__ == "__main__":
    try:
        print(f"Open {build_site(ROOT / 'build' / 'docs') / 'index.html'}")
    except (ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"The documentation can't be built: {error}")
