"""How a result that was read passes from the process that reads it to the worker.

The figures come as JSON, of which a job allows only so many, and files as they are: to read them
costs the worker next to nothing.
"""

import json
from dataclasses import replace

from kernelbot.launchers.results import NoResult
from kernelbot.protocol import RunResult, from_wire, to_wire


def encode_reading(found: RunResult | str) -> bytes:
    """A result, or why there is none."""
    if isinstance(found, str):
        return json.dumps({"why": found}).encode()
    contents = [artifact.content_base64.encode("ascii") for artifact in found.artifacts]
    slim = tuple(replace(artifact, content_base64="") for artifact in found.artifacts)
    head = {
        "result": to_wire(replace(found, artifacts=slim)),
        "sizes": [len(content) for content in contents],
    }
    return b"\n".join((json.dumps(head).encode(), b"".join(contents)))


def decode_reading(answer: bytes) -> RunResult:
    """The result. Raises `NoResult` if there is none."""
    head, _, contents = answer.partition(b"\n")
    found = json.loads(head)
    if "why" in found:
        raise NoResult(found["why"])
    result = from_wire(RunResult, found["result"])
    artifacts, at = [], 0
    for artifact, size in zip(result.artifacts, found["sizes"], strict=True):
        text = contents[at : at + size].decode("ascii")
        artifacts.append(replace(artifact, content_base64=text))
        at += size
    return replace(result, artifacts=tuple(artifacts))
