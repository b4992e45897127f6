"""The terminal client: talks HTTP, except for the commands that need no server."""

# In the interpreter itself: `signal` would be loaded from files, and Ctrl-C may come meanwhile.
import _signal as signal  # type: ignore[import-not-found]
import gc
import sys

_COLLECT_AFTER = (50_000, 20, 20)
"""Python's own thresholds are 700, 10 and 10. But while a command loads its modules there is no
garbage, and looking for it takes a tenth of the time."""


def main() -> None:
    """The `kernelbot` command."""
    gc.set_threshold(*_COLLECT_AFTER)
    stoppable = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if stoppable:  # Ctrl-C ends this process at once: there is nothing to say or to tidy up yet
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Here, so that importing the package costs nothing.
    from kernelbot.cli.loading import load_when_used

    load_when_used(sys.argv[1:])
    from kernelbot.cli.app import run
    from kernelbot.protocol.garbage import ending

    if stoppable:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run()
    finally:
        if stoppable:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        ending()
