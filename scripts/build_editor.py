"""Make the editor of the web pages again: `web/static/codemirror.js` and its licences.

CodeMirror and esbuild come from npm's registry, in the versions of `scripts/editor`'s lock file;
their own install scripts aren't run. It needs Node.js with npm, which nothing else here does:

    python -m scripts.build_editor

For newer versions, in `scripts/editor`, so that the lock file names no host, and then this:

    npm install --package-lock-only --omit-lockfile-registry-resolved --save-exact NAME@VERSION
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "scripts" / "editor"
STATIC = ROOT / "src" / "kernelbot" / "web" / "static"
BUILT = STATIC / "codemirror.js"
LICENCES = STATIC / "codemirror.LICENSE.txt"
_FILES = ("package.json", "package-lock.json", "codemirror.js")


def main() -> None:
    """Build in a folder of its own, and leave the two files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in _FILES:
            shutil.copy(SOURCE / file, folder)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit"], cwd=folder, check=True)
        _bundle(folder)
        packages = _packages(folder)
        LICENCES.write_text(_licences(packages))
        names = ", ".join(f"{one['name']} {one['version']}" for one, _ in packages)
        head = f"/*! {names}. MIT: see codemirror.LICENSE.txt beside this file. */\n"
        BUILT.write_text(head + (folder / "built.js").read_text())
    print(f"{BUILT.relative_to(ROOT)}: {BUILT.stat().st_size} bytes of {len(packages)} packages")


def _bundle(folder: Path) -> None:
    command = ["node_modules/.bin/esbuild", "codemirror.js", "--bundle", "--minify"]
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


if __name__ == "__main__":
    main()
