"""`scripts/server-packages.txt`: what two pips of `make` install beside each other, by names."""

import re
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
LIST = ROOT / "scripts" / "server-packages.txt"
OURS = "kernelbot-platform"


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed_by(name: str, *extras: str) -> set[str]:
    """All packages that one needs with these extras, as those that are installed here say."""
    found: set[tuple[str, str]] = set()
    waiting = [(name, extra) for extra in ("", *extras)]
    while waiting:
        package, extra = waiting.pop()
        if (package, extra) in found:
            continue
        found.add((package, extra))
        for line in distribution(package).requires or ():
            required = Requirement(line)
            if required.marker is None or required.marker.evaluate({"extra": extra}):
                waiting += [(normal(required.name), more) for more in ("", *required.extras)]
    return {package for package, _ in found}


def test_it_names_what_the_server_and_its_build_need_and_nothing_else() -> None:
    """One too few is installed by pip in the end, alone; one too many is there for nothing."""
    named = {normal(name) for name in LIST.read_text().split()}
    assert needed_by(OURS, "server") | needed_by("hatchling") == named | {OURS}


def test_all_it_names_is_locked_and_in_the_same_order() -> None:
    locked = [line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()]
    names = LIST.read_text().splitlines()
    assert [name for name in locked if name in names] == names
