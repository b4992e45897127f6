"""The kernel's small files (/proc, control groups), with nothing between them and the system calls.

Each process of a job is a fork that lives for a moment, and copies every page that Python touches:
to write two bytes through `pathlib` and a text stream costs such a process more than the kernel's
part of it. `read` and `write` raise OSError.
"""

import os
from contextlib import suppress


def read(path: str) -> str:
    """All of it. In /proc stand names that strangers choose, which may be no text."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = b""
        while more := os.read(fd, 1 << 16):
            content += more
    finally:
        os.close(fd)
    return content.decode(errors="replace")


def write(path: str, text: str) -> None:
    """In one piece, as an order to the kernel has to be; a file that isn't there is never made."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def exists(path: str) -> bool:
    """Whether there is something."""
    try:
        os.stat(path)  # noqa: PTH116 (see above)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def number(path: str) -> int:
    """What a file says that holds a number alone; 0 if it can't be read."""
    with suppress(OSError):
        return int(read(path))
    return 0


def counter(path: str, name: str) -> int:
    """The number behind this name in a file of lines of both; 0 if there is none."""
    with suppress(OSError):
        for line in read(path).splitlines():
            key, _, value = line.partition(" ")
            if key == name and value.isdigit():
                return int(value)
    return 0
