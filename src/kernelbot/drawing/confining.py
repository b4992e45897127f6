"""Gives up files, the network and other processes, as any user: Landlock, of Linux 5.13 and later.

A namespace as around authors' code would hide more, but takes bubblewrap, and not every
system gives one to an ordinary user.
"""

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
_NO_NEW_PRIVS = 38
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many kinds of access to files each version knows; later ones know 16."""
_TCP = 0b11
"""To listen and to connect, since version 4."""
_SCOPES = 0b11
"""Sockets without a name in the file system, and signals, since version 6."""
_SYSTEM = ("/usr", "/lib", "/lib64", "/etc/fonts", "/etc/localtime", "/var/cache/fontconfig")
_DEVICES = ("/dev/null", "/dev/urandom")


def confine() -> bool:
    """From here on this process, and what it starts, opens no file but to read Python's modules,
    the system's libraries and its fonts; connects to nobody; and sends no signal to others. What is
    open stays open. False: the kernel can't, and nothing has changed. Call it before there are
    threads: others than the caller go on as before."""
    version = _call(_CREATE_RULESET, None, 0, _ASK_VERSION)
    if version < 1:
        return False
    files = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    handled = [files, *([_TCP] if version >= 4 else []), *([_SCOPES] if version >= 6 else [])]
    asked = struct.pack(f"={len(handled)}Q", *handled)
    rules = _call(_CREATE_RULESET, asked, len(asked), 0)
    if rules < 0:
        return False
    try:
        for place in readable():
            _allow(rules, place)
        libc = ctypes.CDLL(None)
        return libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and _call(_RESTRICT_SELF, rules, 0) == 0
    finally:
        os.close(rules)


def readable(home: Path | None = None) -> list[str]:
    """The places that may still be read. Never all of a home, whatever Python's path says."""
    home = Path(os.environ.get("HOME") or "/") if home is None else home
    modules = [path for path in sys.path if path and not home.is_relative_to(path)]
    fonts = [os.environ[name] for name in ("FONTCONFIG_PATH",) if name in os.environ]
    return [*_SYSTEM, *_DEVICES, *modules, *fonts]


def _allow(rules: int, place: str) -> None:
    """To read what is there, if anything is."""
    try:
        opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        is_folder = stat.S_ISDIR(os.fstat(opened).st_mode)
        rights = _READ_FILE | (_READ_DIR if is_folder else 0)
        _call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", rights, opened), 0)
    finally:
        os.close(opened)


def _call(number: int, *arguments: int | bytes | None) -> int:
    """-1: the kernel refused, or has no such call."""
    libc = ctypes.CDLL(None)
    libc.syscall.restype = ctypes.c_long
    given: Iterable[object] = (
        ctypes.c_long(one) if isinstance(one, int) else one for one in arguments
    )
    found: int = libc.syscall(ctypes.c_long(number), *given)
    return found
