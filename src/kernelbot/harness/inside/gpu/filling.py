"""Modules of others that are changed as soon as something imports them."""

import sys
from collections.abc import Callable, Iterable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

Fill = Callable[[ModuleType], None]


def fill_when_imported(names: Iterable[str], fill: Fill) -> None:
    """Have `fill` change the modules with these names, in this process until it ends: at once those
    that are there, and the others when they are loaded. A second call with the same `fill` does
    nothing."""
    if any(isinstance(one, _FillingFinder) and one.fill == fill for one in sys.meta_path):
        return
    finder = _FillingFinder(frozenset(names), fill)
    sys.meta_path.insert(0, finder)
    for name in finder.names:
        if name in sys.modules:
            fill(sys.modules[name])


class _FillingFinder(MetaPathFinder):
    """Finds these modules where they are, and fills them when they are loaded."""

    def __init__(self, names: frozenset[str], fill: Fill) -> None:
        self.names = names
        self.fill = fill

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> Any:
        if fullname not in self.names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Filling(spec.loader, self.fill)
        return spec


class _Filling(Loader):
    def __init__(self, loader: Loader, fill: Fill) -> None:
        self._loader = loader
        self._fill = fill

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._fill(module)
