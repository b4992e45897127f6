"""A program that answers what it can reach: a file by `path`, this machine's TCP by `port`, or a
process by `pid`."""

import os
import socket
from typing import Any

from kernelbot.drawing.serving import serve


def _reached(request: dict[str, Any]) -> bytes:
    try:
        if "path" in request:
            os.close(os.open(request["path"], request.get("flags", os.O_RDONLY)))
        elif "port" in request:
            with socket.socket() as found:
                found.connect(("127.0.0.1", request["port"]))
        else:
            os.kill(request["pid"], 0)
    except OSError as error:
        return type(error).__name__.encode()
    return b"reached"


if __name__ == "__main__":
    serve(_reached, 1 << 30, as_nobody=True)
