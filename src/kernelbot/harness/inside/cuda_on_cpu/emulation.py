"""In the runner: what a shared object whose CUDA kernels the processor runs says of a call."""

import ctypes
from typing import Any, Self

_ERROR = "cuda_on_cpu_error"
_ARGUMENT = "cuda_on_cpu_argument"


class Emulation:
    """The part of the shared object that isn't the author's. Nothing that it says is trusted."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._error: Any = library[_ERROR]
        self._error.restype = ctypes.c_char_p
        self._error.argtypes = ()
        self._argument: Any = getattr(library, _ARGUMENT, None)
        """None if nothing looks at accesses of memory."""
        if self._argument is not None:
            self._argument.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
            self._argument.restype = None

    @classmethod
    def find(cls, library: ctypes.CDLL) -> Self | None:
        """None if the library's kernels, if it has any, are for a GPU."""
        try:
            return cls(library)
        except AttributeError:
            return None

    def give(self, place: int, address: int, size_bytes: int) -> None:
        """Say where the array is that the argument at `place` points to, from 1."""
        if self._argument is not None:
            self._argument(place, address, size_bytes)

    def expect_no_error(self) -> None:
        """Raise RuntimeError, which says what and where, if a launch has failed until now."""
        text = self._error()
        if text is not None:
            raise RuntimeError(text.decode("utf-8", "replace"))
