"""The terminal client: talks HTTP, except for the commands that need no server."""

import gc

_COLLECT_AFTER = (50_000, 20, 20)
"""Python's own thresholds are 700, 10 and 10. But while a command loads its modules there is no
garbage, and looking for it takes a tenth of the time."""


def main() -> None:
    """The `kernelbot` command."""
    gc.set_threshold(*_COLLECT_AFTER)
    from kernelbot.cli.app import run  # here, so that importing the package costs nothing
    from kernelbot.protocol.garbage import ending

    try:
        run()
    finally:
        ending()
