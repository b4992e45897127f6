"""Writes a small, working problem for its author to change."""

import re
from contextlib import suppress
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
    if the name can't be a problem's, UserError if the folder can't be written; then nothing of it
    stays.
    """
    if not NAME.fullmatch(name):
        raise InvalidProblem(f"A problem can't be named {name!r}.", hint=NAME_RULE.capitalize())
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(f"{folder} already exists.", hint="Choose another name or folder.")
    skeleton = files("kernelbot.catalog") / "skeletons" / lang.value
    made: list[Path] = []
    try:
        _write(skeleton, folder, name, made)
    except OSError as error:
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()
        where = error.filename or made[-1]  # a full disk is noticed where no file is named
        raise UserError(f"{where} can't be written: {error.strerror}.") from None
    return tuple(path for path in made if path.is_file())


def _write(source: Traversable, target: Path, name: str, made: list[Path]) -> None:
    """Each file and folder is in `made` as soon as a part of it may be there."""
    if source.is_file():
        path = target.with_name(target.name.removesuffix(_SUFFIX))
        made.append(path)
        path.write_text(source.read_text().replace("@NAME@", name))
        return
    if not target.exists():
        made.append(target)
        target.mkdir(parents=True)
    for child in sorted(source.iterdir(), key=lambda child: child.name):
        _write(child, target / child.name, name, made)
