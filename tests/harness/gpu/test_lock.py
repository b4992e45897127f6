import math
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.harness.gpu.access import visible_gpus
from kernelbot.harness.gpu.lock import GpuBusy, GpuLocks, gpus_locked
from kernelbot.harness.host.cancellation import Cancellation, Cancelled
from kernelbot.harness.host.host import Host
from kernelbot.protocol import EventKind, ProgressEvent, Vendor
from tests.harness.jobs import SORT, a_job
from tests.support.device_problems import DEVICE


def test_a_gpu_has_one_job(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    with (
        gpus_locked(Vendor.NVIDIA, ("0", "1"), folder, 0),
        pytest.raises(GpuBusy, match="GPU 1"),
        gpus_locked(Vendor.NVIDIA, ("1",), folder, 0.2),
    ):
        pass


def test_two_gpus_have_two(tmp_path: Path) -> None:
    with (
        gpus_locked(Vendor.NVIDIA, ("0",), tmp_path, 0),
        gpus_locked(Vendor.NVIDIA, ("1",), tmp_path, 0),
    ):
        pass


def test_what_is_let_go_of_can_be_had(tmp_path: Path) -> None:
    for _ in range(2):
        with gpus_locked(Vendor.AMD, ("../a'; echo x",), tmp_path / "locks", 0):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["locks"]


def test_a_killed_job_holds_nothing(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from kernelbot.protocol import Vendor\n"
        "from kernelbot.harness.gpu.lock import gpus_locked\n"
        "with gpus_locked(Vendor.NVIDIA, ('0',), Path(sys.argv[1]), 0): print(flush=True); input()"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(GpuBusy), gpus_locked(Vendor.NVIDIA, ("0",), tmp_path, 0):
            pass
        holder.kill()
        holder.wait()
    with gpus_locked(Vendor.NVIDIA, ("0",), tmp_path, 0):
        pass


def test_a_cpu_is_not_locked(tmp_path: Path) -> None:
    with gpus_locked(Vendor.CPU, ("0",), tmp_path / "locks", 0):
        assert not (tmp_path / "locks").exists()


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "nvidia-0.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="nvidia-0"), gpus_locked(Vendor.NVIDIA, ("0",), tmp_path, 0):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_the_environment_says_which_gpus_are_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2, 3")
    assert visible_gpus(Vendor.NVIDIA) == ("2", "3")


def test_a_job_waits_for_a_gpu_until_it_is_cancelled(tmp_path: Path) -> None:
    host = Host(gpus=GpuLocks(("0",), tmp_path, math.inf), lasting=False)
    job = replace(a_job(SORT), device=DEVICE)
    cancelled = Cancellation()
    told: list[EventKind] = []

    def cancel(event: ProgressEvent) -> None:
        told.append(event.kind)
        threading.Timer(0.3, cancelled.set).start()

    with gpus_locked(Vendor.NVIDIA, ("0",), tmp_path, 0), pytest.raises(Cancelled):
        host.attempt(job, cancel, cancelled)
    assert [EventKind.STARTED] == told
    host.close()
