"""Packages that give names of their modules, and load a module when one of its names is used."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def lazily(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """The package's `__getattr__`. `homes`: the names that each of its modules has for it."""
    modules = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found: object = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
