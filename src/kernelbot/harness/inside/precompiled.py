"""Torch's own header, compiled in advance, for processes that build extensions of torch.

g++ takes what was compiled if macros and the target are the same. Levels of optimisation it doesn't
compare, and crashes if they differ: so each list of flags has a folder of its own.
"""

import functools
import hashlib
import importlib
import inspect
import json
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

FOLDER = "/precompiled"
"""Where a sandbox shows what was compiled. Empty or missing, if nothing was: what is built names it
all the same, so that ninja builds nothing anew on a machine that has none."""
HEADER = "torch/extension.h"
COMPILED = f"{HEADER}.gch"
_BUILDERS = ("load_inline", "load")


def variant(flags: Iterable[str]) -> str:
    """The name of the folder for these flags of g++, in their order."""
    text = json.dumps([flag.strip() for flag in flags])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def install() -> None:
    """Have torch's builders of extensions search the folder for their flags, in this process until
    it ends. Needs torch. Idempotent."""
    extension: Any = importlib.import_module("torch.utils.cpp_extension")
    if hasattr(extension.include_paths, "searches_precompiled"):
        return
    first: ContextVar[tuple[str, ...]] = ContextVar("first", default=())
    extension.include_paths = _with_first(extension.include_paths, first)
    for name in _BUILDERS:
        setattr(extension, name, _searching(getattr(extension, name), first))


def _with_first(
    real: Callable[..., list[str]], first: ContextVar[tuple[str, ...]]
) -> Callable[..., list[str]]:
    """Folders of the system: ninja notes the headers only of those that an author names."""

    @functools.wraps(real)
    def include_paths(*arguments: Any, **options: Any) -> list[str]:
        return [*first.get(), *real(*arguments, **options)]

    include_paths.searches_precompiled = True  # type: ignore[attr-defined]  # `install` looks for it
    return include_paths


def _searching(real: Callable[..., Any], first: ContextVar[tuple[str, ...]]) -> Callable[..., Any]:
    signature = inspect.signature(real)

    @functools.wraps(real)
    def build(*arguments: Any, **options: Any) -> Any:
        try:
            given = signature.bind(*arguments, **options).arguments
        except TypeError:  # the real one says so
            return real(*arguments, **options)
        before = first.set((f"{FOLDER}/{variant(given.get('extra_cflags') or ())}",))
        try:
            return real(*arguments, **options)
        finally:
            first.reset(before)

    return build
