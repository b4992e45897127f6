"""A /dev with device files that the machine doesn't have, in a mount namespace of its own."""

import shlex
from collections.abc import Sequence

_KEPT = ("null", "zero", "full", "random", "urandom", "tty")


def with_devices(command: Sequence[str], devices: Sequence[str]) -> list[str]:
    """The command line that runs `command` where `devices` (names below /dev) are there as well.

    They are as empty as /dev/null. To be run as root.
    """
    lines = ["set -e", "mount -t tmpfs -o mode=0755 dev /mnt"]
    lines += [f"cp -a /dev/{name} /mnt/" for name in _KEPT]
    lines += ["mkdir -m 1777 /mnt/shm", "mkdir /mnt/pts", "ln -s /proc/self/fd /mnt/fd"]
    for device in devices:
        lines += [f"mkdir -p $(dirname /mnt/{device})", f"mknod -m 666 /mnt/{device} c 1 3"]
    lines += ["mount --move /mnt /dev", f"exec {shlex.join(command)}"]
    return ["unshare", "--mount", "sh", "-c", "\n".join(lines)]
