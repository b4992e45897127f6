"""A JobSpec as one word of text, for schedulers that carry text and nothing else."""

import base64
import binascii
import json
import zlib

from kernelbot.protocol.codec import WireError, from_wire, to_wire
from kernelbot.protocol.job import JobSpec

MAX_PAYLOAD_BYTES = 64 << 20
"""Most bytes of the JSON within: whoever sends more means no job."""


def encode_payload(job: JobSpec) -> str:
    """Base64 of zlib of the job's JSON: ASCII without blanks or line breaks."""
    return base64.b64encode(zlib.compress(json.dumps(to_wire(job)).encode())).decode("ascii")


def decode_payload(text: str | bytes) -> JobSpec:
    """Read what `encode_payload` wrote; blanks around it don't matter. Never needs more memory than
    a few times `MAX_PAYLOAD_BYTES`. Raises `VersionMismatch` or `WireError`."""
    try:
        packed = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise WireError(f"the payload isn't base64: {error}") from None
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(packed, MAX_PAYLOAD_BYTES + 1)
    except zlib.error as error:
        raise WireError(f"the payload isn't zlib data: {error}") from None
    if len(body) > MAX_PAYLOAD_BYTES:
        raise WireError(f"the payload holds more than {MAX_PAYLOAD_BYTES >> 20} MiB")
    if not unpacker.eof:
        raise WireError("the payload ends too early")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise WireError(f"the payload isn't JSON: {error}") from None
    return from_wire(JobSpec, value)
