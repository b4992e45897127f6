"""The door to what runs in this process: the commands that need no server, or are one.

`main` wires everything together and stands above this package, so it is looked up by name when
such a command runs. Nothing else in `cli` knows it, and `kernelbot --help` needn't load it.
"""

from importlib import import_module
from typing import Any


def load(module: str, name: str) -> Any:
    """What `kernelbot.main.<module>` calls `name`: a function or a type."""
    return getattr(import_module(f"kernelbot.main.{module}"), name)
