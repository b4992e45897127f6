"""Headers of a device's machines that runners' compilers find: those of CUTLASS, say."""

import os
from pathlib import Path

from kernelbot.harness.inside.own_folders import inside
from kernelbot.harness.words.sandbox import SandboxUnavailable


def header_folders(include_dirs: tuple[str, ...]) -> tuple[str, ...]:
    """A device's `include_dirs`, all of which are here. Raises `SandboxUnavailable`."""
    for folder in include_dirs:
        if not Path(folder).is_absolute() or Path(folder) == Path("/") or not Path(folder).is_dir():
            raise SandboxUnavailable(
                f"The device's include_dirs name {folder}, which isn't a folder on this machine: "
                "install the headers there, or leave it out of the device's configuration."
            )
    return include_dirs


def headers_found(folders: tuple[str, ...], *, isolated: bool) -> dict[str, str]:
    """Variables by which gcc, clang and nvcc search the folders, without a flag."""
    if not folders:
        return {}
    paths = os.pathsep.join(inside(folder) if isolated else folder for folder in folders)
    return {"CPATH": paths, "CPLUS_INCLUDE_PATH": paths}
