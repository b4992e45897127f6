"""The machine, as any process on it sees it."""

import os


def machine_memory_bytes() -> int:
    """All of this machine's memory, whoever may use how much of it."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
