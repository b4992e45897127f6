"""Archives as schedulers send them."""

import io
import struct
import zipfile
import zlib

_CHUNK = 1 << 20


def zipped(*files: tuple[str, bytes], mode: int = 0o644) -> bytes:
    """A zip of files by their names, whatever these are."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return content.getvalue()


def zip_of_zeros(name: str, size_mib: int) -> bytes:
    """A zip whose only file is as large as that, made in no time: the same block again and again.
    Its checksum is wrong, which shows to those who read it whole."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(_CHUNK)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = block * size_mib + packer.flush()
    about = (20, 0, zipfile.ZIP_DEFLATED, 0, 0, 0, len(packed), size_mib * _CHUNK)
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", *about, len(name), 0) + name.encode()
    entry = (
        struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, *about, len(name), 0, 0, 0, 0, 0, 0)
        + name.encode()
    )
    start = len(local) + len(packed)
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(entry), start, 0)
    return local + packed + entry + end
