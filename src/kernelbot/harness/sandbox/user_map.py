"""The users of a sandbox that root starts. Bubblewrap would map one; here all that its runners may
become are mapped, while it waits."""

import os
import re
import threading
from contextlib import suppress
from pathlib import Path

from kernelbot.harness.data.wire import close_all
from kernelbot.harness.inside.own_users import user_map

_CHILD = re.compile(rb'"child-pid": (\d+)')
_END = b"}"
_MOST_BYTES = 4096


class UserMap:
    """Of one sandbox. `fds` are to be inherited by bubblewrap, with `arguments`."""

    def __init__(self) -> None:
        self._info, info = os.pipe()
        waits, self._go = os.pipe()
        self.fds = (info, waits)
        self.arguments = ("--info-fd", str(info), "--userns-block-fd", str(waits))

    def abandon(self) -> None:
        """Close everything: nothing was started."""
        close_all((*self.fds, self._info, self._go))

    def write_soon(self, uid: int, inside_uid: int, log: int) -> None:
        """Return at once, and write the maps when bubblewrap has a process to write them of; `uid`
        is `inside_uid` there. What goes wrong is written to `log`, a descriptor that is copied, and
        the sandbox ends."""
        close_all(self.fds)
        arguments = (uid, inside_uid, os.dup(log))
        threading.Thread(target=self._write, args=arguments, daemon=True).start()

    def _write(self, uid: int, inside_uid: int, log: int) -> None:
        try:
            text = b""
            while _END not in text:  # all of it: who writes to nobody ends
                if not (more := os.read(self._info, _MOST_BYTES)):
                    return  # it has ended, and said why
                text += more
            if (found := _CHILD.search(text)) is None:
                raise OSError("bubblewrap names no process")
            _write_maps(Path("/proc", found[1].decode()), uid, inside_uid)
            os.write(self._go, b"x")
        except OSError as error:
            os.write(log, f"its users could not be mapped: {error}\n".encode())
        finally:
            close_all((self._info, self._go, log))


def _write_maps(process: Path, uid: int, inside_uid: int) -> None:
    only = f"{inside_uid} {uid} 1\n"
    (process / "setgroups").write_text("deny")
    (process / "gid_map").write_text(only)
    with suppress(OSError):  # a container may have fewer users
        (process / "uid_map").write_text(user_map(uid, inside_uid))
        return
    (process / "uid_map").write_text(only)
