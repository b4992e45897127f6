"""Timed calls on a CPU: what is taken when the mark is seen, and what must be described."""

import time
from collections.abc import Iterator

import numpy as np
import pytest

from kernelbot.harness.data.encode import encode
from kernelbot.harness.judge.failures import AuthorFailure
from kernelbot.harness.judge.windows import Reply
from kernelbot.harness.runner_client.in_place_caller import InPlaceCaller
from kernelbot.harness.runner_client.session import Session
from kernelbot.harness.sandbox import Flavour, RunnerClient, Zygote, ZygoteConfig
from kernelbot.protocol import Limits, SourceFile, Verdict

DATA = np.arange(100.0)
LATER = """
import sys
marks = sys.modules["kernelbot.harness.timing.marks"]

def call(self, *given, real=marks.NativeMarks.call):
    out = real(self, *given)
    out[:] = 7.0
    return out

marks.NativeMarks.call = call
"""

AFTERWARDS = """
import sys, time
runner = sys.modules["kernelbot.harness.runner.runner"]

def encode(*given, real=runner.encode):
    until = time.HOW() + 0.025
    while time.HOW() < until:
        time.sleep(0.01 if "HOW" == "monotonic" else 0)
    return real(*given)

runner.encode = encode
"""


@pytest.fixture(scope="module")
def client() -> Iterator[RunnerClient]:
    zygote = Zygote.start(ZygoteConfig(Flavour.NUMPY, spare=1))
    zygote.wait_ready(60)
    client = RunnerClient(zygote.connect())
    yield client
    client.close()
    zygote.close()


def second_call(client: RunnerClient, source: str) -> Reply:
    """The second of two calls: the first one shows where an output lies."""
    session = Session.start(client, Limits(), frozenset(), time.monotonic() + 60)
    try:
        session.setup((), "cpu", fresh_output=False, outputs=None)
        session.load(SourceFile("submission.py", source), "submission.py")
        caller = InPlaceCaller(session)
        data = encode(DATA, frozenset())
        caller.timed_call(data, None, reuse=False)
        return caller.timed_call(data, None, reuse=True)
    finally:
        session.abort()


def kernel(returns: str, prelude: str = "") -> str:
    return f"import numpy as np\n{prelude}\ndef custom_kernel(data):\n    return {returns}\n"


@pytest.mark.parametrize("returns", ["data * 2", "(data * 2).reshape(10, 10).T"])
def test_arrays_are_taken_at_the_mark(client: RunnerClient, returns: str) -> None:
    reply = second_call(client, kernel(returns))
    expected = eval(returns, {"data": DATA})
    assert (False, expected.tolist()) == (reply.window.described, reply.value.tolist())
    assert 0 < reply.window.claim_ns <= reply.window.bracket_ns


def test_so_are_those_of_a_tuple(client: RunnerClient) -> None:
    reply = second_call(client, kernel("data + 1, data + 2"))
    assert (False, [1.0, 2.0]) == (reply.window.described, [float(one[0]) for one in reply.value])


@pytest.mark.parametrize("returns", ["{'sum': data * 2}", "(data * 2, 3.0)", "data[::2]"])
def test_anything_else_counts_until_it_is_described(client: RunnerClient, returns: str) -> None:
    reply = second_call(client, kernel(returns))
    assert reply.window.described
    assert reply.window.claim_ns < reply.window.bracket_ns


def test_an_output_of_another_size_counts_until_it_is_described(client: RunnerClient) -> None:
    reply = second_call(client, kernel("data[: next(sizes)].copy()", "sizes = iter((10, 20))"))
    assert (True, 20) == (reply.window.described, reply.value.size)


def test_what_is_written_after_the_mark_is_not_in_the_output(client: RunnerClient) -> None:
    reply = second_call(client, kernel("data * 2", LATER))
    assert (False, (DATA * 2).tolist()) == (reply.window.described, reply.value.tolist())


def test_work_and_sleep_after_the_mark_are_seen(client: RunnerClient) -> None:
    idle, busy = (
        second_call(client, kernel("data * 2", AFTERWARDS.replace("HOW", how))).window
        for how in ("monotonic", "thread_time")
    )
    assert busy.after_cpu_ns > 20_000_000 > idle.after_cpu_ns
    assert min(busy.outside_ns, idle.outside_ns) > 20_000_000


def test_what_raises_is_refused(client: RunnerClient) -> None:
    with pytest.raises(AuthorFailure) as caught:
        second_call(client, kernel("data / next(empty)", "empty = iter(())"))
    assert Verdict.RUNTIME_ERROR == caught.value.verdict
