"""The door to what runs in this process: the commands that need no server, or are one.

`main` wires everything together and stands above this package, so it is looked up by name when
such a command runs. Nothing else in `cli` knows it, and `kernelbot --help` needn't load it.
"""

from importlib import import_module
from typing import Any


def call(module: str, function: str, *args: Any, **kwargs: Any) -> Any:
    """Call `kernelbot.main.<module>.<function>`."""
    return getattr(import_module(f"kernelbot.main.{module}"), function)(*args, **kwargs)


def make(module: str, kind: str, **fields: Any) -> Any:
    """Make a value of a type of `kernelbot.main.<module>`."""
    return getattr(import_module(f"kernelbot.main.{module}"), kind)(**fields)
