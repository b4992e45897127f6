"""Draws charts, one after another, until nobody asks any more.

A process of its own, since the library keeps 140 MB once it has drawn anything; its first chart
takes half a second, others a tenth of that. Each line on standard input is a request: a JSON object
with `form` (`png` or `svg`) and `chart` (a Vega-Lite document). Each answer is a line of `picture`
or `error` and a number of bytes, and then that many bytes. The argument says after how many seconds
without a request it ends.
"""

import json
import os
import resource
import select
import sys
from typing import BinaryIO

_PIXELS_PER_POINT = 2.0
_MEMORY_BYTES = 1 << 30


def main() -> None:
    """Answer requests until standard input ends, or none comes for long."""
    idle_s = float(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever the library prints is no answer
    while line := _next_line(sys.stdin.buffer, idle_s):
        try:
            kind, content = b"picture", _drawn(json.loads(line))
        except ValueError as error:  # what the library says of a document that is no chart
            kind, content = b"error", str(error).encode("utf-8", "replace")
        answers.write(b"%s %d\n" % (kind, len(content)) + content)
        answers.flush()


def _next_line(requests: BinaryIO, wait_s: float) -> bytes:
    """Empty if there is no further one."""
    waiting, _, _ = select.select([requests], [], [], wait_s)
    return requests.readline() if waiting else b""


def _drawn(request: dict[str, object]) -> bytes:
    import vl_convert

    document = json.dumps(request["chart"])
    if request["form"] == "svg":
        return vl_convert.vegalite_to_svg(document).encode()
    return vl_convert.vegalite_to_png(document, scale=_PIXELS_PER_POINT)


if __name__ == "__main__":
    main()
