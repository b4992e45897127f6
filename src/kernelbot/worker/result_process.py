"""The program that reads large results.

A process of its own: what a node has left may have been made to take very long, or much memory,
and neither can be interrupted. A request has `job` (without its files), `within_s`, `of_next` and
`zipped_as`, and is followed by what the node has left. The answer is that of `encode_reading`.
"""

import gc
from typing import Any

from kernelbot.drawing.serving import serve
from kernelbot.launchers.base import Left
from kernelbot.launchers.results import NoResult, read_result
from kernelbot.protocol import JobSpec, from_wire
from kernelbot.protocol.result import RunResult
from kernelbot.worker.reading_format import encode_reading

_MEMORY_BYTES = 512 << 20
"""Twice what an honest result of the largest size needs."""


def _read(request: dict[str, Any]) -> bytes:
    job = from_wire(JobSpec, request["job"])
    left = Left(request.pop("body"), request["zipped_as"])
    try:
        found: RunResult | str = read_result(
            left, job, request["within_s"], of_next=request["of_next"]
        )
    except NoResult as error:
        found = str(error)
    except MemoryError:
        found = f"its result can't be read: it needs more than {_MEMORY_BYTES >> 20} MiB of memory"
    return encode_reading(found)


if __name__ == "__main__":
    gc.disable()  # all of a result lives until it was read; looking through it takes most time
    for text in ("utf-16", "utf-32", "cp437"):  # of JSON and of zips: not to be opened later
        "".encode(text)
    serve(_read, _MEMORY_BYTES, as_nobody=True)
