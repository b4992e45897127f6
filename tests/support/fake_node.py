"""`tests.fakes.node` as one file, to be used as a harness."""

import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def build_fake_node(target: Path) -> Path:
    """Write it to `target` and return that."""
    ours = sorted((ROOT / "src" / "kernelbot" / "protocol").glob("*.py"))
    with zipfile.ZipFile(target, "w") as archive:
        for path in (ROOT / "src" / "kernelbot" / "__init__.py", *ours):
            archive.write(path, path.relative_to(ROOT / "src").as_posix())
        for name in ("__init__.py", "fakes/__init__.py", "fakes/host.py", "fakes/node.py"):
            archive.write(ROOT / "tests" / name, f"tests/{name}")
        archive.writestr("__main__.py", "from tests.fakes.node import main\n\nmain()\n")
    return target
