"""Starts a child of `serve`: `python -m kernelbot.server.child MODULE ARGUMENTS`."""

import sys
from importlib import import_module

from kernelbot.protocol.garbage import ending, loading


def main() -> None:
    """Become the module, with the arguments that follow its name."""
    with loading():
        module = import_module(sys.argv.pop(1))
    try:
        module.main()
    finally:
        ending()


if __name__ == "__main__":
    main()
