"""Loading what a command needs, and no more."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:  # it would load much else
    from importlib.abc import Loader

_BY_OTHERS = frozenset(
    (
        "calendar",
        "email.base64mime",
        "email.header",
        "email.quoprimime",
        "hashlib",
        "inspect",
        "ipaddress",
        "ntpath",
        "random",
        "selectors",
        "shutil",
        "ssl",
        "statistics",
    )
)
"""What the standard library's `dataclasses`, `urllib.parse`, `email` and others load for what a
command hardly ever does. They take a seventh of its time."""
_SHOWS_HELP = "typer.rich_utils"
_NOT_FOR_HELP = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
"""What typer has for texts in Markdown and for its own crashes: half of the time of loading it."""
_HAVE_THREADS = ("bot", "dev", "env", "mcp", "serve", "worker")
"""Commands that are servers, or work at two things at once."""


class _WhenUsed:
    """Has Python load these modules when one of their names is first used, not when they are
    imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What Python asks of each module: None if it is another one."""
        if name not in _BY_OTHERS and name != _SHOWS_HELP:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _late(name, spec.loader)
        return spec


def _late(name: str, loader: "Loader") -> "Loader":
    return cast("Loader", _Help(loader)) if name == _SHOWS_HELP else LazyLoader(loader)


class _Help:
    """Loads typer's help without what no help of ours needs."""

    def __init__(self, loader: "Loader") -> None:
        self._loader = loader

    def create_module(self, _spec: ModuleSpec) -> None:
        """Python's own."""

    def exec_module(self, module: ModuleType) -> None:
        """Loads it."""
        absent = [name for name in _NOT_FOR_HELP if name not in sys.modules]
        for name in absent:
            vars(found := ModuleType(name))[_NOT_FOR_HELP[name]] = _ClassWhenUsed(name)
            sys.modules[name] = found
        try:
            self._loader.exec_module(module)
        finally:
            for name in absent:
                del sys.modules[name]


class _ClassWhenUsed:
    """Stands for the class of a module that is loaded when something is asked of the class."""

    def __init__(self, module: str) -> None:
        self._module = module

    def _loaded(self) -> Any:
        return getattr(import_module(self._module), _NOT_FOR_HELP[self._module])

    def __call__(self, *args: object, **given: object) -> object:
        return self._loaded()(*args, **given)

    def __getattr__(self, name: str) -> object:
        return getattr(self._loaded(), name)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, self._loaded())

    def __mro_entries__(self, _bases: tuple[object, ...]) -> tuple[type]:
        return (self._loaded(),)

    def __or__(self, _other: object) -> object:
        return Any  # in annotations, which nobody reads

    __ror__ = __or__


def load_when_used(command: str) -> None:
    """Have this process load some modules late, and compile methods late. Not where two threads
    might do so at the same time."""
    if command not in _HAVE_THREADS:
        sys.meta_path.insert(0, _WhenUsed())
        from kernelbot.protocol import late  # here: it loads one of those

        late.compile_when_called()
