"""The whole examination, on machines whose GPUs are files and a stand-in for the driver."""

import os
from pathlib import Path

import pytest

from tests.harness.host.vendor.machine import notes, put_nvidia_smi, vendor_check
from tests.support.cuda_driver import build_driver

TWO_GPUS = ("nvidiactl", "nvidia-uvm", "nvidia0", "nvidia1")

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user can't make a /dev")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_driver(tmp_path_factory.mktemp("driver")).parent


@pytest.mark.exhaustive
@as_root
def test_a_node_without_a_gpu_judges_on_its_processor() -> None:
    code, report = vendor_check()
    found = notes(report)
    assert (0, True) == (code, report["ok"])
    assert (None, "there is no GPU here: jobs run on the processor") == found["GPU"]
    assert [True, True] == [found[name][0] for name in ("sandbox", "example")]


@as_root
def test_a_gpu_that_must_be_there_and_is_not_makes_the_node_unfit() -> None:
    code, report = vendor_check("--gpu", "amd")
    found = notes(report)
    assert (1, False) == (code, report["ok"])
    assert (False, "install AMD's driver (amdgpu): there is no /dev/kfd") == found["driver"]
    assert (False, "no AMD GPU can be opened here") == found["GPUs given"]


# Each run has test_a_gpu_that_must_be_there_and_is_not_makes_the_node_unfit
@pytest.mark.exhaustive
@as_root
def test_a_job_is_judged_with_the_gpu_that_it_was_given_and_no_other(
    driver: Path, tmp_path: Path
) -> None:
    calls = put_nvidia_smi(tmp_path)
    code, report = vendor_check(
        devices=TWO_GPUS,
        PATH=f"{tmp_path}:{os.environ['PATH']}",
        LD_LIBRARY_PATH=str(driver),
        CUDA_VISIBLE_DEVICES="1",
    )
    found = notes(report)
    assert (0, True) == (code, report["ok"]), found
    assert (True, "1: /dev/nvidia1") == found["GPUs given"]
    assert (True, "works, and shows /dev/nvidia1 alone") == found["sandbox"]
    assert [True, True, True] == [found[name][0] for name in ("driver", "clocks", "example")]
    assert [
        "nvidia-smi --id=1 --lock-gpu-clocks=1980,1980",
        "nvidia-smi --id=1 --reset-gpu-clocks",
    ] == calls.read_text().splitlines()[-2:]


@pytest.mark.exhaustive
@as_root
def test_a_job_that_would_get_both_gpus_is_not_one_gpu_per_job(
    driver: Path, tmp_path: Path
) -> None:
    calls = put_nvidia_smi(tmp_path)
    code, report = vendor_check(
        "--leave-clocks",
        devices=TWO_GPUS,
        PATH=f"{tmp_path}:{os.environ['PATH']}",
        LD_LIBRARY_PATH=str(driver),
    )
    ok, note = notes(report)["GPUs given"]
    assert (1, False) == (code, ok)
    assert "2 instead of 1" in note
    assert "lock" not in calls.read_text()


# Each run has test_a_gpu_that_must_be_there_and_is_not_makes_the_node_unfit.
@pytest.mark.exhaustive
@as_root
def test_a_choice_of_a_gpu_that_is_not_there_is_told() -> None:
    code, report = vendor_check(devices=TWO_GPUS, CUDA_VISIBLE_DEVICES="a'; echo x")
    ok, note = notes(report)["GPUs given"]
    assert (1, False) == (code, ok)
    assert "CUDA_VISIBLE_DEVICES names" in note
