"""The program in which kernelguard reads sources: a request has `code`, and the answer is its own.

Starting Python and loading the rules takes twenty times as long as reading a source.
"""

import contextlib
import importlib
import io
import sys
from types import ModuleType
from typing import Any

from kernelbot.drawing.serving import serve

_MEMORY_BYTES = 512 << 20


def _found(kernelguard: ModuleType, code: str) -> bytes:
    """What its command line answers about the code. It reads standard input and arguments, which
    are ours to give back afterwards."""
    given = sys.stdin, sys.argv
    sys.stdin, sys.argv = io.StringIO(code), ["kernelguard", "--api-mode"]
    try:
        with contextlib.redirect_stdout(io.StringIO()) as answer:
            kernelguard.main()
    finally:
        sys.stdin, sys.argv = given
    return answer.getvalue().strip().encode("utf-8", "replace")


def main() -> None:
    """Answer until nobody asks any more."""
    kernelguard = importlib.import_module("kernelguard")
    _found(kernelguard, "")  # whatever it loads then, it may not open later

    def answer(request: dict[str, Any]) -> bytes:
        return _found(kernelguard, request["code"])

    serve(answer, _MEMORY_BYTES, as_nobody=True)


if __name__ == "__main__":
    main()
