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
        "ast",
        "bz2",
        "calendar",
        "email.base64mime",
        "email.header",
        "email.quoprimime",
        "hashlib",
        "inspect",
        "ipaddress",
        "linecache",
        "lzma",
        "ntpath",
        "random",
        "selectors",
        "shutil",
        "ssl",
        "statistics",
        "tokenize",
    )
)
"""What the standard library's `dataclasses`, `urllib.parse`, `email` and others load for what a
command hardly ever does. They take a seventh of its time."""
_LOADED_WITH_LESS = ("platformdirs.unix", "typer", "typer.rich_utils")
_HARDLY_USED = (
    "ast",
    "difflib",
    "fractions",
    "pickle",
    "platform",
    "rich.markdown",
    "rich.traceback",
    "shellingham",
    "shutil",
    "subprocess",
    "tempfile",
    "traceback",
    "uuid",
)
"""What these have for texts in Markdown, for crashes of their own, for links, for files to run and
for kinds of values that no command takes: half of the time of loading them."""
_HAVE_THREADS = ("bot", "dev", "env", "mcp", "serve", "worker")
"""Commands that are servers, or work at two things at once."""
_ASK_FOR_HELP = (("-h",), ("--help",))


class _WhenUsed:
    """Has Python load these modules when one of their names is first used, not when they are
    imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What Python asks of each module: None if it is another one."""
        if name not in _BY_OTHERS and name not in _LOADED_WITH_LESS:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _late(name, spec.loader)
        return spec


def _late(name: str, loader: "Loader") -> "Loader":
    return cast("Loader", _WithLess(loader)) if name in _LOADED_WITH_LESS else LazyLoader(loader)


class _WithLess:
    """Loads a module without what no command, no help and no mistake of ours needs of it."""

    def __init__(self, loader: "Loader") -> None:
        self._loader = loader

    def create_module(self, _spec: ModuleSpec) -> None:
        """Python's own."""

    def exec_module(self, module: ModuleType) -> None:
        """Loads it."""
        absent = [_Absent(name) for name in _HARDLY_USED if _is_unused(sys.modules.get(name))]
        sys.modules.update({one.__name__: one for one in absent})
        try:
            self._loader.exec_module(module)
        finally:
            for one in absent:
                one.end()

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)  # who reads a module's source


def _is_unused(module: ModuleType | None) -> bool:
    """Whether nothing of it was run so far."""
    return module is None or type(module) is not ModuleType  # one that `LazyLoader` made


class _Absent(ModuleType):
    """Stands for a module of which nothing was run. While others are loaded, they are given names
    that are looked up when they are used."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._usual = sys.modules.get(name)
        self._is_awaited = True

    def end(self) -> None:
        """Have others that import it get the module itself."""
        self._is_awaited = False
        name = self.__name__
        if sys.modules.get(name) is self:
            del sys.modules[name]
            if self._usual is not None:
                sys.modules[name] = self._usual

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # asked by Python, as the module is imported
            raise AttributeError(name)
        return _NameWhenUsed(self, name) if self._is_awaited else self.used(name)

    def used(self, name: str) -> object:
        """What has this name, in the module itself."""
        self.end()
        return getattr(import_module(self.__name__), name)


class _NameWhenUsed:
    """Stands for a class or function of a module, which is loaded when something is asked of it."""

    def __init__(self, module: _Absent, name: str) -> None:
        self._module, self._name = module, name

    def _loaded(self) -> Any:
        return self._module.used(self._name)

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


def load_when_used(words: Sequence[str]) -> None:
    """Have the process of a command, whose words these are, load some modules late, and compile
    methods late. Not where two threads might do so at the same time."""
    if not (words and words[0] in _HAVE_THREADS) or tuple(words[1:]) in _ASK_FOR_HELP:
        sys.meta_path.insert(0, _WhenUsed())
        from kernelbot.protocol import late  # here: it loads one of those

        late.compile_when_called()
