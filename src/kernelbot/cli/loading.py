"""Loading what a command needs, and no more."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def httpx_alone() -> Iterator[None]:
    """Have httpx load without its own command line, which takes click, rich and pygments along:
    as if click weren't installed, which it loads first. What is loaded already stays."""
    if "click" in sys.modules:
        yield
        return
    sys.modules["click"] = None  # type: ignore[assignment] # Python's way to say that there is none
    try:
        yield
    finally:
        del sys.modules["click"]
