"""Work that another account does, in a fork of a test that root runs."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def open_folder() -> Iterator[Path]:
    """One that every account can enter, as it may not be able to enter the checkout."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


def as_nobody(work: Callable[[], object]) -> tuple[int, str]:
    """The exit code and what was said on standard error. An exception is told there, with 1."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        code = 1
        try:
            os.close(reading)
            sys.stderr = os.fdopen(writing, "w")
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            work()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException as error:  # noqa: BLE001 (a fork of a test mustn't go on)
            print(repr(error), file=sys.stderr)
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as said:
        text = said.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), text
