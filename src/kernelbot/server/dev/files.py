"""The watched file: what is in it now, whatever it is, and when it changes."""

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event

from kernelbot.domain.errors import InvalidSubmission, UserError
from kernelbot.submissions.source import MAX_SOURCE_BYTES

_STEP_MS = 5
_DEBOUNCE_MS = 100
"""An editor's several changes for one save come within this time."""
_LOOK_AGAIN_MS = 1000


def read_now(path: Path) -> bytes:
    """The file's bytes; of one that is too large, only one byte more than the limit. Never waits.

    Raises `InvalidSubmission` if there is no regular file that can be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise InvalidSubmission(f"There is no file {path} now.") from None
    except OSError as error:
        raise InvalidSubmission(f"{path} can't be read: {error.strerror}.") from None
    except ValueError as error:
        raise InvalidSubmission(f"{path} can't be read: {error}.") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InvalidSubmission(f"{path} isn't a regular file.")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise InvalidSubmission(f"{path} can't be read: {error.strerror}.") from None
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: bytes) -> None:
    """Replace the file's content at once: whoever reads it sees the old one or the new one. Raises
    `InvalidSubmission` if that can't be done; the old one is there then."""
    path = path.resolve()  # a link stays one
    try:
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as partial:
            try:
                partial.write(content)
                partial.flush()
                Path(partial.name).chmod(mode)
                Path(partial.name).replace(path)
            except OSError:
                Path(partial.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InvalidSubmission(f"{path} can't be written: {error.strerror}.") from None


def changes(path: Path, over: Event) -> Iterator[bool]:
    """True for each change of the file, also if it is deleted, made again or replaced, until `over`
    is set; and False after each second without any, so that the file is looked at again: nobody
    tells of what happened before watching began, nor of much on other machines' file systems. That
    alone is left where the account has as many watches as the system allows it.
    Raises KeyboardInterrupt, and `UserError` for a folder that can't be watched."""
    from watchfiles import watch

    places = {path.absolute(), path.resolve()}
    folders = {place.parent for place in places}
    names = {str(place) for place in places} | {str(path.parent.resolve() / path.name)}
    found = watch(
        *folders,
        watch_filter=lambda _change, changed: changed in names,
        step=_STEP_MS,
        debounce=_DEBOUNCE_MS,
        stop_event=over,
        rust_timeout=_LOOK_AGAIN_MS,
        yield_on_timeout=True,
        recursive=False,
    )
    try:
        for changed in found:
            yield bool(changed)
    except PermissionError:
        raise UserError(f"{path.parent} can't be watched: access denied.") from None
    except RuntimeError:  # watchfiles' own, for what the system refuses: editors take many watches
        while not over.wait(_LOOK_AGAIN_MS / 1000):
            yield False
