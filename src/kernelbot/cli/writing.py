"""Files that a command writes for a person."""

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from kernelbot.domain.errors import Conflict, UserError


def write_file(file: Path, text: str, *, force: bool, option: str = "--to") -> None:
    """Write the text as it is. `force`: also over a file that is there; else that raises
    `Conflict`. `option` names another file. Raises `UserError` if it can't be written; then what
    was there is there still."""
    try:
        if force and file.is_file():
            _replace(file.resolve(), text)
        elif force:
            _write(file, text, "w")  # it may be a device
        else:
            _write_new(file, text)
    except FileExistsError:
        raise Conflict(
            f"{file} already exists.", hint=f"Name another with {option}, or use --force."
        ) from None
    except OSError as error:
        raise _unwritten(file, error) from None


def write_new_files(files: Mapping[Path, str]) -> None:
    """Write all of them, or none. Raises `UserError` if one is there or can't be written."""
    written = list[Path]()
    for file, text in files.items():
        try:
            _write_new(file, text)
        except OSError as error:
            for other in written:
                other.unlink(missing_ok=True)
            raise _unwritten(file, error) from None
        written.append(file)


def _unwritten(file: Path, error: OSError) -> UserError:
    """A full disk is noticed where no file is named."""
    return UserError(f"{file} can't be written: {error.strerror}.")


def _write_new(file: Path, text: str) -> None:
    try:
        _write(file, text, "x")
    except FileExistsError:
        raise
    except OSError:
        with suppress(OSError):
            file.unlink()  # a part of it
        raise


def _replace(file: Path, text: str) -> None:
    try:
        handle, draft = tempfile.mkstemp(prefix=".kernelbot-", dir=file.parent)
    except PermissionError:  # the file may be writable and its folder not
        _write(file, text, "w")
        return
    os.close(handle)
    try:
        _write(Path(draft), text, "w")
        os.chmod(draft, file.stat().st_mode & 0o7777)  # noqa: PTH101
        os.replace(draft, file)  # noqa: PTH105
    except BaseException:
        with suppress(OSError):
            Path(draft).unlink()
        raise


def _write(file: Path, text: str, mode: str) -> None:
    with file.open(mode, encoding="utf-8", newline="") as opened:
        opened.write(text)
