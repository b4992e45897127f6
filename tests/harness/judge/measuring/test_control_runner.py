"""The control runner, for real: beside a judge's problem, in the sandbox."""

import time
from collections.abc import Iterator

import pytest

from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.inside.cage.loader import loaded
from kernelbot.harness.inside.cage.questions import encode_input
from kernelbot.harness.judge.measuring.control_runner import IDENTITY, AnchorFailed, Control
from kernelbot.harness.sandbox import RunnerClient, Zygote
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.sandbox import Flavour, SandboxUnavailable, ZygoteConfig
from kernelbot.protocol import SourceFile
from tests.harness.flushers import a_flusher
from tests.harness.jobs import SORT, a_job


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    zygote = Zygote.start(ZygoteConfig(Flavour.NUMPY))
    try:
        zygote.wait_ready(60)
        yield zygote
    finally:
        zygote.close()


@pytest.fixture
def control(zygote: Zygote) -> Iterator[tuple[Control, Encoded]]:
    job = a_job(SORT)
    client = RunnerClient(zygote.connect())
    with loaded(job.problem) as problem:
        control = Control(Plan.for_job(job), client, a_flusher(1 << 20), time.monotonic() + 60)
        try:
            data = problem.make_input({"size": 1000, "seed": 1}, None)
            yield control, encode_input(data, problem.modules)
        finally:
            control.close()
            client.close()


@pytest.mark.timed
def test_a_call_that_does_nothing_costs_microseconds(control: tuple[Control, Encoded]) -> None:
    made, data = control
    empty_ns = made.calibrate(0, data)
    made.observe(0, data)
    baseline = made.baseline(0, 1)
    assert 0 < empty_ns < 100_000
    assert 0 < baseline.usual.main_cpu_ns < 1_000_000


@pytest.mark.timed
def test_its_own_calls_contradict_nothing(control: tuple[Control, Encoded]) -> None:
    made, data = control
    found = []
    for _ in range(2):  # it takes two to refuse a submission
        made.calibrate(0, data)
        windows = []
        for _ in range(20):
            made.observe(0, data)
            windows.append(made.call(data, IDENTITY).window)
        found.append(made.baseline(0, 1).contradiction(windows))
    assert None in found


def test_an_anchor_is_not_waited_for_without_end(zygote: Zygote) -> None:
    job = a_job(SORT)
    endless = SourceFile("anchor.py", "def custom_kernel(data):\n    while True: pass\n")
    client = RunnerClient(zygote.connect())
    deadline = time.monotonic() + 3600
    with loaded(job.problem) as problem:
        control = Control(Plan.for_job(job), client, a_flusher(), deadline)
        control.load_anchor(endless)
        control._anchor_call_s = 0.3  # of loading it, too, which may take longer
        data = encode_input(problem.make_input({"size": 10, "seed": 1}, None), problem.modules)
        with pytest.raises(AnchorFailed, match=r"not done after 0\.3 s"):
            control.call_anchor(data)
        control.close()
    client.close()


def test_its_failure_is_ours(control: tuple[Control, Encoded]) -> None:
    made, data = control
    with pytest.raises(SandboxUnavailable, match="control runner failed"):
        made.call(data, "no such kernel")
