"""What libraries of GPUs ask for is granted in the sandbox, or they can do without it."""

import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from scripts.gpu_check.needs import NEEDS, Rehearsed
from scripts.gpu_check.rehearsal import rehearse

from kernelbot.harness.inside.own_folders import inside
from kernelbot.harness.sandbox import RunnerClient, run_command

REFUSED_BUT_NOT_MISSED = [
    ("torch", "take a descriptor (expandable segments)"),
]


def _nccl() -> Path | None:
    """The library of the package `nvidia-nccl-cu13`, or `nvidia-nccl-cu12`."""
    package = find_spec("nvidia")
    for folder in (package.submodule_search_locations or ()) if package else ():
        for library in Path(folder, "nccl", "lib").glob("libnccl.so.2"):
            return library
    return None


def test_no_library_is_refused_what_it_cannot_do_without(client: RunnerClient) -> None:
    found = rehearse(client)
    assert [] == [one for one in found if one.ends_the_library]
    refused = [(one.library, one.action) for one in found if one.refusal]
    assert REFUSED_BUT_NOT_MISSED == refused
    assert [(need.library, need.action) for need in NEEDS] == [
        (one.library, one.action) for one in found
    ]


def test_what_is_refused_ends_a_library_only_if_it_is_fatal() -> None:
    ends = [
        Rehearsed("NCCL", "x", is_fatal, refusal).ends_the_library
        for is_fatal in (True, False)
        for refusal in ("EPERM", "")
    ]
    assert [True, False, False, False] == ends


CALLS_NCCL = """
import ctypes, os, sys
os.environ["NCCL_SOCKET_IFNAME"] = "lo"
library, made = ctypes.CDLL(sys.argv[1]), ctypes.create_string_buffer(128)
print(library.ncclGetUniqueId(made), made.raw != bytes(128))
"""


@pytest.mark.skipif(_nccl() is None, reason="the package nvidia-nccl-cu13 (300 MB) isn't installed")
def test_the_real_nccl_opens_its_meeting_place(client: RunnerClient) -> None:
    """As rank 0 does, without a GPU; its communicators need one: `make gpu-check ONLY=ranks`."""
    library = inside(str(_nccl()))
    result = run_command(client, ["python3", "-c", CALLS_NCCL, library], timeout_s=60)
    assert (0, "0 True") == (result.exit_code, result.stdout.strip()), result.stderr


SETS_AFFINITY = "_Z17ncclOsSetAffinityRK9cpu_set_t"
CHOOSES_PROCESSORS = """
import ctypes, os, sys
library, (path, offset) = ctypes.CDLL(sys.argv[1]), sys.argv[1:]
with open("/proc/self/maps") as maps:
    base = min(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(path))
mask = (ctypes.c_ubyte * 128)()
for one in os.sched_getaffinity(0):
    mask[one // 8] |= 1 << one % 8
choose = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(base + int(offset, 16))
print(choose(ctypes.addressof(mask)))
"""


def _place_of(symbol: str, library: Path | None) -> str | None:
    """Where a function begins that a library doesn't export; None: it has none of this name."""
    if library is None:
        return None
    listed = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    return next((line.split()[0] for line in listed.splitlines() if line.endswith(symbol)), None)


@pytest.mark.long
@pytest.mark.skipif(_nccl() is None, reason="the package nvidia-nccl-cu13 (300 MB) isn't installed")
def test_the_real_nccl_is_not_refused_its_processors(client: RunnerClient) -> None:
    """Each communicator's start calls this function since 2.29.2, and fails if it does: nothing of
    it needs a GPU."""
    place = _place_of(SETS_AFFINITY, _nccl())
    if place is None:
        pytest.skip("this NCCL has no such function")
    command = ["python3", "-c", CHOOSES_PROCESSORS, str(_nccl()), place]
    result = run_command(client, command, timeout_s=60)
    assert (0, "0") == (result.exit_code, result.stdout.strip()), (result.stdout, result.stderr)
