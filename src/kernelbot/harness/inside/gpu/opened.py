"""Whether this process has opened a GPU: what is going to fork must not."""

from pathlib import Path

_OPENED_BY_DRIVERS = ("/dev/nvidia", "/dev/kfd", "/dev/dri")


def open_devices(prefixes: tuple[str, ...] = _OPENED_BY_DRIVERS) -> list[str]:
    """The GPU's device files that this process has open.

    A zygote must have none: a driver that was initialised before a fork doesn't work after it.
    """
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:  # the descriptor of this very listing
            continue
        if target.startswith(prefixes):
            found.append(target)
    return found
