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

from kernelbot.web.guide.contents import navigation

ROOT = Path(__file__).resolve().parent.parent


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
