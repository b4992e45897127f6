"""What a submission compiled for itself, passed from one phase's runner to the next one's.

`load_inline`, triton, torch.compile and numba leave their output in the runner's home. It is packed
there, opaque to the judge, and unpacked in the next runner of the same submission, which needn't
compile again. What a run has built never reaches another.
"""

import contextlib
import io
import os
import tarfile
import time
from functools import cache
from pathlib import Path

TRITON_CACHE = ".triton/cache"
INDUCTOR_CACHE = ".cache/torch_inductor"
"""Torch's own choice is a folder in /tmp."""
NUMBA_CACHE = ".cache/numba"
"""Numba's own choice is a folder beside the source, if the author asks for `cache=True`."""
CUTE_BINARIES = ".cache/kernelbot/cute"
"""What CuTe DSL has compiled for a GPU that wasn't there, to be read and never to be run."""
HIP_KERNELS = ".cache/kernelbot/hip"
"""The same of HIP for a GPU of AMD's: what clang says of kernels."""
FOLDERS = (
    ".cache/torch_extensions",
    TRITON_CACHE,
    INDUCTOR_CACHE,
    NUMBA_CACHE,
    CUTE_BINARIES,
    HIP_KERNELS,
)
CAP_BYTES = 64 << 20


def pack(home: Path) -> bytes:
    """The build folders below `home` as a tar archive; empty without any, or with too much."""
    found = [home / folder for folder in FOLDERS if (home / folder).is_dir()]
    if not found:
        return b""
    files = [path for folder in found for path in folder.rglob("*") if path.is_file()]
    if sum(path.lstat().st_size for path in files) > CAP_BYTES:
        return b""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for folder in found:
            archive.add(folder, folder.relative_to(home))
    return packed.getvalue() if packed.tell() <= CAP_BYTES else b""


def unpack(home: Path, packed: bytes) -> None:
    """Restore the folders. All files get the same time, so that a submission can't find out in
    which phase it runs. Build tools compare times: this one is later than that of any toolchain,
    and earlier than the times that a build has recorded of its own files. The author's file has it
    as well: numba compiles again if that has another time.

    What can't be unpacked is left out; then it is compiled again.
    """
    with (
        contextlib.suppress(tarfile.TarError, OSError),
        tarfile.open(fileobj=io.BytesIO(packed)) as archive,
    ):
        archive.extractall(home, filter="data")
        for place in [home / folder for folder in FOLDERS]:
            for path in (place, *place.rglob("*")):
                with contextlib.suppress(FileNotFoundError):
                    os.utime(path, ns=(began_ns(), began_ns()), follow_symlinks=False)


@cache
def began_ns() -> int:
    """A time at which this process, or the zygote that forked it, already existed."""
    return time.time_ns()
