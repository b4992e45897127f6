"""`tests.fakes.node` as one file, to be used as a harness."""

import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def build_fake_node(target: Path) -> Path:
    """Write it to `target` and return that."""
    source = ROOT / "src" / "kernelbot"
    ours = sorted((source / "protocol").glob("*.py"))
    ours += [source / "harness" / "__init__.py"]
    names = ("__init__", "cancellation", "shared_jobs")
    ours += [source / "harness" / "host" / f"{name}.py" for name in names]
    with zipfile.ZipFile(target, "w") as archive:
        for path in (source / "__init__.py", *ours):
            archive.write(path, path.relative_to(ROOT / "src").as_posix())
        for name in ("__init__.py", "fakes/__init__.py", "fakes/host.py", "fakes/node.py"):
            archive.write(ROOT / "tests" / name, f"tests/{name}")
        archive.writestr("__main__.py", "from tests.fakes.node import main\n\nmain()\n")
    return target
