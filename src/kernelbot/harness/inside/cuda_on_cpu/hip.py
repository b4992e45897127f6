"""HIP among the sources: by which rules kernels run is decided by the headers that are included."""

import re
from collections.abc import Iterable

from kernelbot.harness.inside.cuda_on_cpu.tokens import SourceTokenKind, tokenize

_FOLDERS = ("hip/", "c10/hip/", "ATen/hip/")
_MENTIONED = re.compile(r'#[ \t]{0,20}include[ \t]{0,20}[<"](?:hip|c10/hip|ATen/hip)/')


def mentions_hip(text: str) -> bool:
    """Whether a file of any language has an `#include` of HIP's in it, perhaps in a comment."""
    return _MENTIONED.search(text) is not None


def is_hip(sources: Iterable[str]) -> bool:
    """Whether one of the C++ sources, which become one extension, includes a header of HIP's."""
    return any(_includes_hip(source) for source in sources if "hip/" in source)


def _includes_hip(source: str) -> bool:
    texts = [token.text for token in tokenize(source) if token.kind is not SourceTokenKind.SPACE]
    return any(
        texts[at - 1] == "#" and _header(texts, at + 1).startswith(_FOLDERS)
        for at in range(1, len(texts))
        if texts[at] == "include"
    )


def _header(texts: list[str], at: int) -> str:
    """The beginning of the header's name that is included at `at`."""
    return "".join(texts[at : at + 5]).lstrip('<"')
