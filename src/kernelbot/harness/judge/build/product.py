"""What a build step has made, on its way from there to a run: packed, bounded, with its hash."""

import base64
import hashlib
import zlib

from kernelbot.protocol import BuildEnvironment, CompileReport, Product
from kernelbot.protocol.result_size import MAX_PRODUCT_BYTES, MAX_UNPACKED_BYTES

_QUICKLY = 1


class BadProduct(Exception):
    """The bytes aren't what was built, or aren't packed as we do; the text says why."""


def pack_product(
    content: bytes, place: BuildEnvironment, report: CompileReport | None = None
) -> Product | None:
    """None if there is nothing to carry, or more than may be carried: then each run builds it."""
    if not content or len(content) > MAX_UNPACKED_BYTES:
        return None
    packed = zlib.compress(content, _QUICKLY)
    if len(packed) > MAX_PRODUCT_BYTES:
        return None
    encoded = base64.b64encode(packed).decode("ascii")
    return Product(encoded, hashlib.sha256(packed).hexdigest(), place, report)


def unpack_product(product: Product) -> bytes:
    """What was built. Never needs more memory than a few times the limits. Raises `BadProduct`."""
    try:
        packed = base64.b64decode(product.content_base64, validate=True)
    except ValueError:
        raise BadProduct("it isn't base64") from None
    if len(packed) > MAX_PRODUCT_BYTES:
        raise BadProduct("it is too large")
    if hashlib.sha256(packed).hexdigest() != product.sha256:
        raise BadProduct("its hash isn't that of what was built")
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(packed, MAX_UNPACKED_BYTES + 1)
    except zlib.error:
        raise BadProduct("it isn't packed as it should be") from None
    if len(content) > MAX_UNPACKED_BYTES:
        raise BadProduct("it is too large, unpacked")
    if not unpacker.eof or not content:
        raise BadProduct("it ends too early")
    return content
