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
    texts = [artifact.content_base64 for artifact in found.artifacts]
    if found.product is not None:
        texts.append(found.product.content_base64)
    contents = [text.encode("ascii") for text in texts]
    slim = tuple(replace(artifact, content_base64="") for artifact in found.artifacts)
    product = None if found.product is None else replace(found.product, content_base64="")
    head = {
        "result": to_wire(replace(found, artifacts=slim, product=product)),
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
    texts, at = [], 0
    for size in found["sizes"]:
        texts.append(contents[at : at + size].decode("ascii"))
        at += size
    product = result.product
    if product is not None:
        product = replace(product, content_base64=texts.pop())
    artifacts = tuple(
        replace(artifact, content_base64=text)
        for artifact, text in zip(result.artifacts, texts, strict=True)
    )
    return replace(result, artifacts=artifacts, product=product)
