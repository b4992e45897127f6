"""The languages that submissions are written in: an entry for each.

A new language is an entry here, its compiler's flags in `harness/judge/build/compile.py`, and a
problem to begin with in `catalog/skeletons`.
"""

from enum import StrEnum
from typing import Self

from kernelbot.protocol.enums import Vendor


class Lang(StrEnum):
    """A language by the name that `task.yml` uses."""

    label: str
    """What people call it."""
    suffixes: tuple[str, ...]
    """How names of its files end, in lower case; the first is that of files that we name."""
    is_compiled: bool
    """Whether a compiler makes a kernel of it; else it is Python, which runs as it is."""
    comment: str
    """What a comment begins with."""
    lexer: str
    """Pygments' name for it."""
    vendor: Vendor | None
    """Whose devices alone time it; None: all do. CPU devices test such kernels."""

    PY = "py", "Python", (".py",), False, "#", "python", None
    CU = "cu", "CUDA", (".cu", ".cuh"), True, "//", "cuda", Vendor.NVIDIA
    CPP = "cpp", "C++", (".cpp",), True, "//", "cpp", None

    def __new__(
        cls,
        value: str,
        label: str = "",
        suffixes: tuple[str, ...] = (),
        is_compiled: bool = False,
        comment: str = "",
        lexer: str = "",
        vendor: Vendor | None = None,
    ) -> Self:
        """An entry; the defaults are there only because `Lang("py")` looks one up."""
        lang = str.__new__(cls, value)
        lang._value_ = value
        lang.label = label
        lang.suffixes = suffixes
        lang.is_compiled = is_compiled
        lang.comment = comment
        lang.lexer = lexer
        lang.vendor = vendor
        return lang

    @classmethod
    def by_suffix(cls, suffix: str) -> Self | None:
        """The language whose files end so, in any case; None: no language has it."""
        return next((lang for lang in cls if suffix.lower() in lang.suffixes), None)

    @classmethod
    def all_suffixes(cls) -> tuple[str, ...]:
        """How names of source files may end."""
        return tuple(suffix for lang in cls for suffix in lang.suffixes)
