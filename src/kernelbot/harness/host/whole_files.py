"""Writing what another process waits for."""

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """The file is there in full, on disk, or not there."""
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
