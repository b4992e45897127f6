"""The loop of a program that answers requests until nobody asks any more.

It begins with a line of `ready`. Each line on standard input is a request, a JSON object; if it has
`body_bytes`, so many bytes follow it. Each answer is a line of `answer` or `error` and a number of
bytes, and then that many bytes. The argument says after how many seconds without a request it ends.
"""

import contextlib
import json
import os
import resource
import select
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from kernelbot.drawing.confining import confine

READY = b"ready\n"
_NOBODY = 65534
"""The account that owns nothing, on every Linux."""


def serve(
    answer: Callable[[dict[str, Any]], bytes], memory_bytes: int, *, as_nobody: bool = False
) -> None:
    """Answer requests until standard input ends, or none comes for long. What follows a request is
    its `body`. What `answer` raises as `ValueError` is an `error`. More memory than `memory_bytes`
    ends the process. `as_nobody`: root is nobody from here on, and no file is opened but modules
    and fonts, so what `answer` needs has to be loaded."""
    idle_s = float(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    if as_nobody:
        _leave_root()
        confine()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no answer
    answers.write(READY)
    answers.flush()
    while line := _next_line(sys.stdin.buffer, idle_s):
        try:
            request = json.loads(line)
            if body_bytes := request.pop("body_bytes", 0):
                request["body"] = sys.stdin.buffer.read(body_bytes)
            kind, content = b"answer", answer(request)
        except ValueError as error:
            kind, content = b"error", str(error).encode("utf-8", "replace")
        answers.write(b"%s %d\n" % (kind, len(content)) + content)
        answers.flush()


def _leave_root() -> None:
    """Become nobody, if this is root: these programs read strangers' texts, and need no file of the
    server's. An ordinary user stays who they are, and so does root of a namespace without such an
    account."""
    if os.geteuid() != 0:
        return
    with contextlib.suppress(OSError):
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)


def _next_line(requests: BinaryIO, wait_s: float) -> bytes:
    waiting, _, _ = select.select([requests], [], [], wait_s)
    return requests.readline() if waiting else b""
