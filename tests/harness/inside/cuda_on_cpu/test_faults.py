"""What would end the process ends the launch, with line, thread and block; of the host's own code
it ends the process."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kernelbot.harness.inside.cuda_on_cpu.headers import CHECKED_FLAGS, CHECKED_LIBRARIES
from tests.harness.inside.cuda_on_cpu.test_running import build
from tests.support.exhaustive import cases

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ isn't installed")
SOURCE = Path(__file__).with_name("faults.cu")
LINES = SOURCE.read_text().splitlines()
CALL = """
import ctypes, sys
import numpy as np
from kernelbot.harness.inside.cuda_on_cpu.emulation import Emulation
library = ctypes.CDLL(sys.argv[1])
emulation = Emulation.find(library)
arrays = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
for place, array in enumerate(arrays, 1):
    emulation.give(place, array.ctypes.data, array.nbytes)
library["run_" + sys.argv[2]](*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
try:
    emulation.expect_no_error()
except RuntimeError as error:
    print(error)
"""


@pytest.fixture(scope="module", params=cases(["switch", "ucontext"], always=["switch"]))
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    flags = ["-DCUDA_ON_CPU_UCONTEXT"] if request.param == "ucontext" else []
    return build(tmp_path_factory.mktemp("faults"), SOURCE.read_text(), *flags)


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checked_faults")
    return build(folder, SOURCE.read_text(), *CHECKED_FLAGS, libraries=CHECKED_LIBRARIES)


def call(built: Path, kernel: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, which may end by a signal."""
    command = [sys.executable, "-c", CALL, str(built), kernel]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def line_with(code: str) -> int:
    """The line of the source that has this code first."""
    return next(number for number, line in enumerate(LINES, 1) if code in line)


@pytest.mark.parametrize(
    ("kernel", "code", "said"),
    [
        (
            "reads_null",
            "void reads_null(",
            "reads memory through a null pointer (the address is 0).",
        ),
        (
            "writes_null",
            "== 40",
            "thread (40,0,0) of block (0,0,0) writes memory through a null pointer",
        ),
        ("reads_nowhere", "void reads_nowhere(", "uses a pointer that is no address."),
        ("writes_far", "void writes_far(", "writes memory that the program doesn't have (at 0x"),
        ("divides", "void divides(", "thread (0,0,0) of block (0,0,0) divides an integer by 0"),
        ("has_large_arrays", "void has_large_arrays(", "needs more than 640 KiB for its own"),
        ("recurses", "int down(", "needs more than 640 KiB for its own"),
        (
            "asserts",
            "assert(a[",
            "thread (5,0,0) of block (0,0,0) fails its assertion `a[threadIdx.x] < 5`.",
        ),
    ],
)
def test_the_launch_ends_with_line_and_thread(
    built: Path, kernel: str, code: str, said: str
) -> None:
    ended = call(built, kernel)
    assert ended.returncode == 0
    assert said in ended.stdout
    line = int(ended.stdout.partition(".cu:")[2].partition(":")[0])
    assert line_with(code) <= line <= line_with(code) + 2


def test_a_copy_of_a_null_pointer_is_refused(built: Path) -> None:
    ended = call(built, "copies_null")
    assert "invalid argument: a copy from or to a null pointer." in ended.stdout
    assert ended.returncode == 0


@pytest.mark.exhaustive  # each run has test_the_launch_ends_with_line_and_thread
def test_a_null_pointer_is_told_apart_from_an_index_where_accesses_are_looked_at(
    checked: Path,
) -> None:
    for kernel, word in (("reads_null", "reads"), ("writes_null", "writes")):
        assert f"{word} memory through a null pointer" in call(checked, kernel).stdout


@pytest.mark.exhaustive  # each run has test_the_launch_ends_with_line_and_thread
def test_what_the_host_does_ends_the_process_as_ever(built: Path) -> None:
    ended = {kernel: call(built, kernel) for kernel in ("host_faults", "host_asserts")}
    assert {"host_faults": -11, "host_asserts": -6} == {
        kernel: one.returncode for kernel, one in ended.items()
    }
    assert "Assertion `a == nullptr' failed." in ended["host_asserts"].stderr
