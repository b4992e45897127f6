"""The process in which kernelguard reads sources: one JSON line with each, one with its answer.

Starting Python and loading the rules takes twenty times as long as reading a source.
"""

import contextlib
import importlib
import io
import json
import sys


def main() -> None:
    """Answer until standard input ends."""
    kernelguard = importlib.import_module("kernelguard")
    sys.argv = ["kernelguard", "--api-mode"]
    for line in sys.stdin:
        sys.stdin = io.StringIO(json.loads(line))
        with contextlib.redirect_stdout(io.StringIO()) as answer:
            kernelguard.main()
        print(answer.getvalue().strip(), flush=True)


if __name__ == "__main__":
    main()
