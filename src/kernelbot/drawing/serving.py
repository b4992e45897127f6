"""The loop of a program that answers requests until nobody asks any more.

It begins with a line of `ready`. Each line on standard input is a request, a JSON object. Each
answer is a line of `answer` or `error` and a number of bytes, and then that many bytes. The
argument says after how many seconds without a request it ends.
"""

import json
import os
import resource
import select
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

READY = b"ready\n"


def serve(answer: Callable[[dict[str, Any]], bytes], memory_bytes: int) -> None:
    """Answer requests until standard input ends, or none comes for long. What `answer` raises as
    `ValueError` is an `error`. More memory than `memory_bytes` ends the process."""
    idle_s = float(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no answer
    answers.write(READY)
    answers.flush()
    while line := _next_line(sys.stdin.buffer, idle_s):
        try:
            kind, content = b"answer", answer(json.loads(line))
        except ValueError as error:
            kind, content = b"error", str(error).encode("utf-8", "replace")
        answers.write(b"%s %d\n" % (kind, len(content)) + content)
        answers.flush()


def _next_line(requests: BinaryIO, wait_s: float) -> bytes:
    """Empty if there is no further one."""
    waiting, _, _ = select.select([requests], [], [], wait_s)
    return requests.readline() if waiting else b""
