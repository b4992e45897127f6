"""Folders that each runner has for itself, and where it finds what lay under them outside."""

import sys
from functools import cache
from pathlib import Path

INTERPRETER_ROOT = "/interpreter"
PRIVATE_FOLDERS = ("/box", "/tmp", "/dev/shm")  # noqa: S108 - names inside the sandbox
"""Every runner covers these with its own, so nothing that it needs may lie under them."""


def inside(path: str) -> str:
    """Where the sandbox shows what outside is at `path`: there, unless runners cover that place
    (a checkout in a temporary folder has its interpreter there)."""
    covered = any(Path(path).is_relative_to(folder) for folder in PRIVATE_FOLDERS)
    return f"{INTERPRETER_ROOT}{path}" if covered else path


@cache
def ways_back() -> dict[str, str]:
    """Links that runners and their zygote need in folders of their own, and where these lead.

    A virtual environment names its interpreter by the place that it had outside.
    """
    base = Path(sys.base_prefix)
    covered = [folder for folder in PRIVATE_FOLDERS if base.is_relative_to(folder)]
    links = [str(Path(folder, base.relative_to(folder).parts[0])) for folder in covered]
    return {link: inside(link) for link in links}
