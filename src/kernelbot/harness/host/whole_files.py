"""Writing what another process waits for."""

import os
from pathlib import Path


def write_whole(path: Path, text: str, *, durable: bool) -> None:
    """The file is there in full or not there, whoever is killed meanwhile.

    `durable`: it is also on disk when this returns, which takes milliseconds and is for what
    another machine reads. Otherwise it may be gone after a power cut, or empty.
    """
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w") as file:
        file.write(text)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    partial.rename(path)
    if not durable:
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
