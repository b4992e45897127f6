"""Files that a command writes for a person."""

from pathlib import Path

from kernelbot.domain.errors import Conflict, UserError


def write_file(file: Path, text: str, *, force: bool) -> None:
    """Write the text as it is. `force`: also over a file that is there; else that raises
    `Conflict`. Raises `UserError` if it can't be written."""
    try:
        with file.open("w" if force else "x", encoding="utf-8", newline="") as opened:
            opened.write(text)
    except FileExistsError:
        raise Conflict(
            f"{file} already exists.", hint="Name another with --to, or use --force."
        ) from None
    except OSError as error:
        raise UserError(f"{file} can't be written: {error.strerror}.") from None
