"""The work folder, here: whose it is, and what becomes of harnesses in it."""

import os
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.domain.errors import DeviceRefused, SchedulerError
from kernelbot.launchers.base import Traits
from kernelbot.launchers.slurm import SlurmSettings
from kernelbot.launchers.slurm.commands import SlurmCommands
from kernelbot.launchers.slurm.work_folder import WorkFolder
from tests.launchers.slurm.test_bad_answers import between
from tests.launchers.stages import slurm_settings

DAY_S = 86_400.0


def harness(folder: Path, name: str) -> Path:
    """A harness of two modules, the same bytes whenever it is made: its name is their hash."""
    path = folder / f"{name}.pyz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("__main__.py"), f"import {name}\n")
        archive.writestr(zipfile.ZipInfo(f"{name}/__init__.py"), "")
    return path


def work_folder(
    folder: Path, name: str = "first", prefix: tuple[str, ...] = (), wait_s: float = DAY_S
) -> WorkFolder:
    """Of a worker that has just begun."""
    settings: SlurmSettings = slurm_settings(folder / "work")
    traits: Traits = replace(settings.traits, wait_s=wait_s)
    return WorkFolder(
        replace(settings, traits=traits), harness(folder, name), SlurmCommands(prefix, 60.0)
    )


def grow_old(path: Path, days: int) -> None:
    then = time.time() - days * DAY_S
    os.utime(path, (then, then))


def unpacked(brought: Path) -> Path:
    """As a node unpacks it."""
    target = brought.with_suffix("")
    with zipfile.ZipFile(brought) as archive:
        archive.extractall(target)
    return target


async def test_a_new_release_leaves_the_jobs_of_the_one_before_their_harness(
    tmp_path: Path,
) -> None:
    before = tmp_path / "work" / await work_folder(tmp_path, "first").harness()
    for path in (before, unpacked(before)):
        grow_old(path, 100)
    after = work_folder(tmp_path, "second")
    await after.harness()
    await after.clean()
    assert [True, True] == [before.exists(), before.with_suffix("").exists()]


async def test_a_harness_that_nobody_used_for_a_week_is_removed(tmp_path: Path) -> None:
    before = tmp_path / "work" / await work_folder(tmp_path, "first").harness()
    await work_folder(tmp_path, "second").harness()
    grow_old(before, 9)
    await work_folder(tmp_path, "second").clean()
    assert not before.exists()


async def test_a_harness_that_is_used_doesnt_grow_old(tmp_path: Path) -> None:
    mine = tmp_path / "work" / await work_folder(tmp_path, "first").harness()
    await work_folder(tmp_path, "second").harness()
    grow_old(mine, 100)
    await work_folder(tmp_path, "first").harness()
    await work_folder(tmp_path, "second").clean()
    assert mine.exists()


async def test_of_an_unpacked_harness_no_file_may_be_missing(tmp_path: Path) -> None:
    """Sites remove files that nobody has read for weeks."""
    brought = tmp_path / "work" / await work_folder(tmp_path).harness()
    there = unpacked(brought)
    (there / "__pycache__").mkdir()
    (there / "__pycache__" / "__main__.cpython-313.pyc").touch()
    await work_folder(tmp_path).harness()
    whole = there.exists()
    (there / "first" / "__init__.py").unlink()
    await work_folder(tmp_path).harness()
    assert [True, False, True] == [whole, there.exists(), brought.exists()]


@pytest.mark.parametrize("name", ["", "harness", "jobs"])
@pytest.mark.parametrize("mode", [0o777, 0o720, 0o1777])
async def test_a_folder_that_others_can_change_is_refused(
    tmp_path: Path, name: str, mode: int
) -> None:
    await work_folder(tmp_path).harness()
    (tmp_path / "work" / name).chmod(mode)
    with pytest.raises(DeviceRefused, match=f"Other accounts can change {tmp_path}/work/?{name},"):
        await work_folder(tmp_path).harness()


@pytest.mark.parametrize("mode", [0o700, 0o755])
async def test_a_folder_that_others_can_only_look_at_is_taken(tmp_path: Path, mode: int) -> None:
    await work_folder(tmp_path).harness()
    (tmp_path / "work").chmod(mode)
    assert (await work_folder(tmp_path).harness()).startswith("harness/")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
async def test_a_folder_of_another_account_is_refused(tmp_path: Path) -> None:
    await work_folder(tmp_path).harness()
    os.chown(tmp_path / "work" / "payloads", 12345, 12345)
    with pytest.raises(DeviceRefused, match="work/payloads"):
        await work_folder(tmp_path).harness()


async def test_what_cant_be_removed_keeps_no_launcher_from_starting(tmp_path: Path) -> None:
    lines = "echo 'rm: cannot remove x: Device or resource busy' >&2; exit 1"
    await work_folder(tmp_path, prefix=between(tmp_path, "find", lines)).clean()


async def test_what_jobs_may_still_wait_for_isnt_removed(tmp_path: Path) -> None:
    patient = work_folder(tmp_path, wait_s=30 * DAY_S)
    await patient.harness()
    found = [tmp_path / "work" / "payloads" / name for name in ("20", "40")]
    for path in found:
        path.touch()
        grow_old(path, int(path.name))
    await patient.clean()
    assert [True, False] == [path.exists() for path in found]


async def test_what_comes_in_part_is_none(tmp_path: Path) -> None:
    await work_folder(tmp_path).harness()
    cut = work_folder(tmp_path, prefix=between(tmp_path, "sh", 'head -c 3 | "$@"'))
    with pytest.raises(SchedulerError, match="not all of it has come"):
        await cut.write("payloads/1.1.a", b"12345")
    assert [] == list((tmp_path / "work" / "payloads").iterdir())


async def test_a_payload_is_readable_by_the_account_alone(tmp_path: Path) -> None:
    folder = work_folder(tmp_path)
    brought = tmp_path / "work" / await folder.harness()
    await folder.write("payloads/1.1.a", b"12345")
    payload = tmp_path / "work" / "payloads" / "1.1.a"
    modes = [oct(path.stat().st_mode & 0o777) for path in (payload, brought)]
    assert (["0o600", "0o644"], b"12345") == (modes, payload.read_bytes())
