"""Passing compiled output from phase to phase."""

import os
from pathlib import Path

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.harness.inside.own_builds import CAP_BYTES, FOLDERS, began_ns, pack, unpack
from kernelbot.protocol import Mode, ProgressEvent, RunResult, Verdict
from tests.harness.jobs import a_job
from tests.support.exhaustive import cases

COMPILES = """
import pathlib
import numpy as np
home = pathlib.Path.home()
product = home / "{folder}" / "product"
if product.is_file():
    print("found", product.read_text())
else:
    print("compiled")
    product.parent.mkdir(parents=True)
    product.write_text("it")
def custom_kernel(data):
    return np.sort(data)
"""


def judge(host: Host, source: str) -> RunResult:
    def quiet(_event: ProgressEvent) -> None:
        return

    return host.judge(a_job(source, mode=Mode.LEADERBOARD), quiet)


@pytest.mark.exhaustive  # each run has test_another_submission_finds_nothing
@pytest.mark.parametrize("folder", cases(FOLDERS, always=FOLDERS[:1]))
def test_later_phases_find_what_the_first_compiled(host: Host, folder: str) -> None:
    result = judge(host, COMPILES.format(folder=folder))
    assert (Verdict.ACCEPTED, "compiled\nfound it\n") == (result.verdict, result.stdout)


NUMBA_LIKE = """
import os
import numpy as np
index = os.path.join(os.environ["NUMBA_CACHE_DIR"], "submission_1a2b", "kernel-8.py311.nbi")
status = os.stat(__file__)
stamp = f"{status.st_mtime} {status.st_size}"
if os.path.isfile(index) and open(index).read() == stamp:
    print("found")
else:
    print("compiled")
    os.makedirs(os.path.dirname(index), exist_ok=True)
    open(index, "w").write(stamp)
def custom_kernel(data):
    return np.sort(data)
"""


@pytest.mark.exhaustive
def test_a_cache_that_is_valid_for_one_time_of_the_source_is_found(host: Host) -> None:
    """As numba's: its index has the time and the size of the file that it was compiled from."""
    result = judge(host, NUMBA_LIKE)
    assert (Verdict.ACCEPTED, "compiled\nfound\n") == (result.verdict, result.stdout)


def test_another_submission_finds_nothing(host: Host) -> None:
    source = COMPILES.format(folder=FOLDERS[0])
    judge(host, source)
    assert judge(host, source).stdout.startswith("compiled\n")


@pytest.mark.exhaustive
def test_other_files_stay_behind(host: Host) -> None:
    result = judge(host, COMPILES.format(folder="elsewhere"))
    assert "compiled\n" * 2 == result.stdout


def test_no_file_tells_its_age(tmp_path: Path) -> None:
    folder = tmp_path / "a" / FOLDERS[0]
    folder.mkdir(parents=True)
    for name, age_s in (("source", 1_700_000_000), ("product", 1_800_000_000)):
        (folder / name).write_text("it")
        os.utime(folder / name, (age_s, age_s))
    unpack(tmp_path / "b", pack(tmp_path / "a"))
    files = [tmp_path / "b" / FOLDERS[0], *(tmp_path / "b" / FOLDERS[0]).iterdir()]
    assert [began_ns()] * 3 == [path.stat().st_mtime_ns for path in files]


def test_too_much_is_not_carried(tmp_path: Path) -> None:
    product = tmp_path / FOLDERS[0] / "product"
    product.parent.mkdir(parents=True)
    with product.open("wb") as file:
        file.truncate(CAP_BYTES + 1)
    assert b"" == pack(tmp_path)


def test_garbage_is_compiled_again(tmp_path: Path) -> None:
    unpack(tmp_path, b"\0garbage" * 100)
    assert [] == list(tmp_path.iterdir())
