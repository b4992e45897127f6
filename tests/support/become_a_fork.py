"""Started where execnet starts Python: the streams go to a fork of a process that has loaded all
test modules already, and this one ends with it."""

import array
import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as forks:
    forks.connect("\0" + sys.argv[1])
    order = {
        "program": "tests.support.loaded_tests",
        "arguments": [],
        "folder": os.getcwd(),  # noqa: PTH109  # pathlib takes longer to load than all this
        "environment": dict(os.environ),
    }
    streams = array.array("i", [0, 1, 2])
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)]
    forks.sendmsg([json.dumps(order).encode()], ancillary)
    for stream in streams:
        os.close(stream)
    code = int(forks.recv(64) or b"1")
os._exit(code if code >= 0 else 128 - code)
