"""The stored form of samples: zlib over little-endian doubles."""

import struct
import zlib


def pack(samples_ns: tuple[float, ...]) -> bytes:
    """Compress samples; exact."""
    return zlib.compress(struct.pack(f"<{len(samples_ns)}d", *samples_ns))


def unpack(packed: bytes) -> tuple[float, ...]:
    """The samples that `pack` compressed."""
    raw = zlib.decompress(packed)
    return struct.unpack(f"<{len(raw) // 8}d", raw)
