"""Whose fault it is if work on a GPU fails: the author's only if others can still compute there."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.host.cancellation import AttemptLost
from kernelbot.harness.host.host import Host
from kernelbot.harness.inside.gpu.arena import ArenaPool
from kernelbot.harness.inside.gpu.driver import Driver
from kernelbot.harness.inside.gpu.timing import Flusher
from kernelbot.harness.judge.gpu_faults import expect_sound_contexts
from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.protocol import EventKind, Mode, Phase, ProgressEvent, RunResult, Verdict
from tests.support.cuda_driver import break_device, build_driver
from tests.support.device_problems import SCALE, device_job, device_problem

PROBLEM = device_problem()
WAITS_FOR_THE_END = SCALE.replace(
    "    x, outputs = data\n",
    "    import time\n"
    "    while not driver.fake_is_broken():\n"
    "        time.sleep(0.01)\n"
    "    x, outputs = data\n",
)
FAILS = SCALE.replace("    x, outputs", "    driver.fake_fail()\n    x, outputs")
SAYS_ECC = (
    "import sys\n"
    "calls = sys.modules['kernelbot.harness.inside.runner.arena_calls'].ArenaCalls\n"
    "def call(self, kernel, arguments, reserved):\n"
    "    said = sys.modules['kernelbot.harness.words.runner_messages']\n"
    "    text = 'CUDA_ERROR_ECC_UNCORRECTABLE'\n"
    "    return self._harness.reply(said.RequestRefused(said.RefusalReason.RAISED, text, 214))\n"
    "calls._call = call\n" + SCALE
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = build_driver(tmp_path).parent
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))
    return folder


@pytest.mark.parametrize("breaks", [True, False])
def test_the_judge_tries_its_own_context(folder: Path, *, breaks: bool) -> None:
    driver = Driver(str(folder / "libcuda.so.1"))
    device = JudgeDevice(driver, ArenaPool(driver), Flusher(driver, 1))
    if breaks:
        break_device(folder, 719)
    with pytest.raises(SandboxUnavailable, match="GPU itself") if breaks else nullcontext():
        expect_sound_contexts((device,))


@pytest.mark.exhaustive  # each run has test_a_kernel_that_breaks_its_own_context_is_its_authors
def test_a_full_device_is_no_broken_one(tmp_path: Path) -> None:
    driver = Driver(str(build_driver(tmp_path, total_bytes=1 << 20)))
    device = JudgeDevice(driver, ArenaPool(driver), Flusher(driver, 1))
    driver.allocate(driver.free_bytes())
    expect_sound_contexts((device,))


@pytest.fixture
def host(folder: Path) -> Iterator[Host]:
    host = Host()
    yield host
    host.close()


def judge(host: Host, source: str) -> RunResult:
    return host.judge(device_job(source, Mode.TEST, PROBLEM), lambda _event: None)


@pytest.mark.exhaustive
def test_a_gpu_that_fails_under_a_kernel_is_nobodys_fault(host: Host, folder: Path) -> None:
    def watch(event: ProgressEvent) -> None:
        if event.kind is EventKind.PHASE_STARTED and event.phase is Phase.TEST:
            break_device(folder, 214)

    with pytest.raises(AttemptLost, match="CUDA_ERROR_ECC_UNCORRECTABLE"):
        host.attempt(device_job(WAITS_FOR_THE_END, Mode.TEST, PROBLEM), watch)
    with pytest.raises(AttemptLost, match=r"can't be made ready.*ECC_UNCORRECTABLE"):
        host.attempt(device_job(SCALE, Mode.TEST, PROBLEM), lambda _event: None)


def test_a_kernel_that_breaks_its_own_context_is_its_authors(host: Host) -> None:
    result = judge(host, FAILS)
    assert (Verdict.RUNTIME_ERROR, ()) == (result.verdict, result.system.notes)


@pytest.mark.exhaustive
def test_an_error_of_the_memory_that_others_do_not_see_takes_two(host: Host) -> None:
    """A runner may say so, and it may be true: some errors reach one process alone."""
    result = judge(host, SAYS_ECC)
    assert Verdict.RUNTIME_ERROR == result.verdict
    assert "judged twice" in " ".join(result.system.notes)
