"""Whether CUDA sources need nvcc's extended lambdas. Where they are allowed, nvcc reads a quarter
of the C++ library before each file, which takes longer than to compile most kernels."""

import re
from collections.abc import Iterable

EXTENDED_LAMBDA = "--expt-extended-lambda"
_LAMBDA = re.compile(rb"\]\s{0,100}(?:[A-Za-z_({\\]|<\s{0,20}\w{1,60}\s{1,20}\w)")
"""What a lambda's parameters or specifiers begin with, behind its captures. An element of an array
is rarely followed by one of these."""
_LIBRARY = re.compile(rb"#\s{0,20}include\s{0,20}[<\"](?!cooperative_groups/)[^>\"\n]{0,200}/")
"""A header in a folder: a library's, which may have other contents with and without them."""
_ASKS = b"EXTENDED_LAMBDA"
"""In a macro's name by which a source finds out."""
_COMMENT = re.compile(rb"//[^\n]*|/\*")


def may_have_extended_lambdas(sources: Iterable[bytes]) -> bool:
    """Whether to allow them from the start. False: what needs them all the same doesn't compile
    without, and means the same if it does."""
    return any(_may_have(_without_comments(source)) for source in sources)


def _may_have(source: bytes) -> bool:
    return bool(_ASKS in source or _LAMBDA.search(source) or _LIBRARY.search(source))


def _without_comments(source: bytes) -> bytes:
    """In linear time, also if a comment is never closed."""
    kept, at = bytearray(), 0
    for found in _COMMENT.finditer(source):
        if found.start() < at:
            continue  # within a comment
        kept += source[at : found.start()] + b" "
        at = found.end()
        if found[0] == b"/*":
            end = source.find(b"*/", at)
            at = end + 2 if end >= 0 else len(source)
    return bytes(kept + source[at:])
