"""Files of `web/static/` that are made of packages from npm's registry, with their licences.

The packages and esbuild come in the versions of a lock file; their own install scripts aren't run.
It needs Node.js with npm, which nothing else here does. `build_editor` and `build_chart` make one
each.
"""

import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
STATIC = ROOT / "src" / "kernelbot" / "web" / "static"


@dataclass(frozen=True)
class Bundle:
    """A file `NAME.js`. `folder`: below `scripts/`, with the lock file and `NAME.js`, which says
    what is in it. `styles`: a style sheet below `node_modules/` that becomes `NAME.css`."""

    folder: str
    name: str
    styles: str | None = None

    @property
    def source(self) -> Path:
        """What it is made of."""
        return ROOT / "scripts" / self.folder

    @property
    def built(self) -> Path:
        """The file."""
        return STATIC / f"{self.name}.js"

    @property
    def styled(self) -> Path:
        """Its style sheet, if it has one."""
        return STATIC / f"{self.name}.css"

    @property
    def licences(self) -> Path:
        """The licences of the packages in it."""
        return STATIC / f"{self.name}.LICENSE.txt"

    def build(self) -> None:
        """Build in a folder of its own, and leave the files in `web/static/`."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file in ("package.json", "package-lock.json", f"{self.name}.js"):
                shutil.copy(self.source / file, folder)
            subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit"], cwd=folder, check=True)
            self._bundle(folder)
            packages = _packages(folder)
            self.licences.write_text(_licences(packages))
            names = ", ".join(f"{one['name']} {one['version']}" for one, _ in packages)
            head = f"/*! {names}. MIT: see {self.licences.name} beside this file. */\n"
            self.built.write_text(head + (folder / "built.js").read_text())
            if self.styles:
                self.styled.write_text(head + (folder / "node_modules" / self.styles).read_text())
        size = self.built.stat().st_size
        print(f"{self.built.relative_to(ROOT)}: {size} bytes of {len(packages)} packages")

    def _bundle(self, folder: Path) -> None:
        command = ["node_modules/.bin/esbuild", f"{self.name}.js", "--bundle", "--minify"]
        command += ["--format=esm", "--target=es2022", "--legal-comments=none", "--charset=utf8"]
        command += ["--outfile=built.js", "--metafile=meta.json", "--log-level=warning"]
        subprocess.run(command, cwd=folder, check=True)


def _packages(folder: Path) -> list[tuple[dict[str, Any], str]]:
    """What of each package is in the bundle: its description and its licence's text, by name."""
    inputs = json.loads((folder / "meta.json").read_text())["inputs"]
    names = {_package_of(path) for path in inputs if path.startswith("node_modules/")}
    found = []
    for name in sorted(names):
        package = folder / "node_modules" / name
        about = json.loads((package / "package.json").read_text())
        if about["license"] != "MIT":
            raise SystemExit(f"{name} has the licence {about['license']}: decide about it first.")
        found.append((about, (package / "LICENSE").read_text().strip()))
    return found


def _package_of(path: str) -> str:
    parts = path.split("/")[1:]
    return "/".join(parts[:2]) if parts[0].startswith("@") else parts[0]


def _licences(packages: list[tuple[dict[str, Any], str]]) -> str:
    parts = [f"{about['name']} {about['version']}\n\n{text}\n" for about, text in packages]
    return ("\n" + "-" * 72 + "\n\n").join(parts)
