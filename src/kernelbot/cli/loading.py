"""Loading what a command needs, and no more."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

_BY_OTHERS = frozenset(("calendar", "inspect", "ipaddress", "random", "ssl"))
"""What the standard library's `dataclasses`, `urllib.parse`, `email` and `http.client` load for
what a command hardly ever does. They take a seventh of its time."""
_HAVE_THREADS = ("bot", "env", "mcp", "serve", "worker")
"""Commands that are servers."""


class _WhenUsed:
    """Has Python load these modules when one of their names is first used, not when they are
    imported."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What Python asks of each module: None if it is another one."""
        if name not in _BY_OTHERS or (spec := PathFinder.find_spec(name)) is None:
            return None
        if spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def load_when_used(command: str) -> None:
    """Have this process load some modules late. Not a server, where two threads might do so at the
    same time."""
    if command not in _HAVE_THREADS:
        sys.meta_path.insert(0, _WhenUsed())
