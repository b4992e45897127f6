"""Writes a small, working problem for its author to change."""

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from kernelbot.domain.errors import Conflict, InvalidProblem, UserError
from kernelbot.protocol import Lang

MAX_NAME = 64
NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{MAX_NAME - 1}}}")
"""What a problem may be called."""
NAME_RULE = "use letters, digits, `_`, `-` and `.`, at most 64, e.g. `vectoradd_py`."
_SUFFIX = ".txt"
"""With this suffix the files of a skeleton aren't modules of this package."""


def new_problem(folder: Path, name: str, lang: Lang) -> tuple[Path, ...]:
    """Write a problem with tests, benchmarks, and solutions that must pass and fail into `folder`.

    Returns the files written. Raises Conflict if the folder exists and isn't empty, InvalidProblem
    if the name can't be a problem's, UserError if the folder can't be written.
    """
    if not NAME.fullmatch(name):
        raise InvalidProblem(
            f"A problem can't be named {name!r}.",
            hint=NAME_RULE.capitalize(),
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(f"{folder} already exists.", hint="Choose another name or folder.")
    skeleton = files("kernelbot.catalog") / "skeletons" / lang.value
    try:
        return tuple(_write(skeleton, folder, name))
    except OSError as error:
        raise UserError(f"{error.filename} can't be written: {error.strerror}.") from None


def _write(source: Traversable, target: Path, name: str) -> list[Path]:
    if source.is_file():
        path = target.with_name(target.name.removesuffix(_SUFFIX))
        path.write_text(source.read_text().replace("@NAME@", name))
        return [path]
    target.mkdir(parents=True, exist_ok=True)
    children = sorted(source.iterdir(), key=lambda child: child.name)
    return [path for child in children for path in _write(child, target / child.name, name)]
