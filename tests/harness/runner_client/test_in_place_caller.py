"""Timed calls on a CPU: what is taken when the mark is seen, and what must be described."""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kernelbot.harness.data.encode import encode
from kernelbot.harness.judge.failures import AuthorFailure
from kernelbot.harness.judge.windows import Reply
from kernelbot.harness.runner_client.callers import Several
from kernelbot.harness.runner_client.in_place_caller import InPlaceCaller
from kernelbot.harness.runner_client.session import Session
from kernelbot.harness.sandbox import Flavour, RunnerClient, Zygote, ZygoteConfig
from kernelbot.protocol import Limits, SourceFile, Verdict

DATA = np.arange(100.0)
LATER = """
import sys
marks = sys.modules["kernelbot.harness.timing.marks"]

def call(self, *given, real=marks.NativeMarks.call):
    outputs = real(self, *given)
    outputs[0][:] = 7.0
    return outputs

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

ANOTHER = """
import sys
runner = sys.modules["kernelbot.harness.runner.runner"]

def encode(value, *given, real=runner.encode):
    return real([value[0] + 1], *given)

runner.encode = encode
"""
FEWER = """
import sys
runner = sys.modules["kernelbot.harness.runner.runner"]

def encode(value, *given, real=runner.encode):
    return real(value[:1], *given)

runner.encode = encode
"""
PUT_BACK = """
import sys
runner = sys.modules["kernelbot.harness.runner.runner"]
held = []

def encode(*given, real=runner.encode):
    while held:
        held.pop()[0] -= 1
    return real(*given)

runner.encode = encode
"""
BEFORE = """
import sys, threading, time
runner = sys.modules["kernelbot.harness.runner.runner"]

def work():
    until = time.thread_time() + 0.025
    while time.thread_time() < until:
        pass

def decode(*given, real=runner.decode, **options):
    helper = threading.Thread(target=work)
    helper.start()
    helper.join()
    return real(*given, **options)

runner.decode = decode
"""


@pytest.fixture(scope="module")
def client() -> Iterator[RunnerClient]:
    zygote = Zygote.start(ZygoteConfig(Flavour.NUMPY, spare=1))
    zygote.wait_ready(60)
    client = RunnerClient(zygote.connect())
    yield client
    client.close()
    zygote.close()


def second_window(client: RunnerClient, source: str, numbers: list[Any]) -> Reply:
    """The second of two windows with a call for each number; all inputs are as they were then."""
    session = Session.start(client, Limits(), frozenset(), time.monotonic() + 60)
    try:
        session.setup((), "cpu", fresh_output=False, outputs=None)
        session.load(SourceFile("submission.py", source), "submission.py")
        caller = InPlaceCaller(session, compares_inputs=True)
        data = Several(tuple(encode(DATA * number, frozenset()) for number in numbers))
        caller.timed_call(data, None, reuse=False)
        reply = caller.timed_call(data, None, reuse=True)
        return replace(reply, aliased=reply.aliased or caller.inputs_changed(data))
    finally:
        session.abort()


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


@pytest.mark.parametrize(
    "returns",
    [
        "{'twice': data * 2, 'more': [data + 1]}",
        "(data * 2, float(data[3]))",
        "float(data.sum())",
        "(data * 2, None, 7)",
        "(data * 2, np.float64(data[3]))",
        "data.astype(np.float32).sum()",
        "tuple(data + one for one in range(200))",
    ],
)
def test_so_are_other_outputs_that_lie_in_memory(client: RunnerClient, returns: str) -> None:
    reply = second_call(client, kernel(returns))
    expected = eval(returns, {"data": DATA, "np": np})
    assert (False, str(expected)) == (reply.window.described, str(reply.value))


def test_so_is_a_named_tuple(client: RunnerClient) -> None:
    reply = second_call(client, kernel("np.linalg.eigh(np.diag(data[:2]))"))
    assert (False, [0.0, 1.0]) == (reply.window.described, reply.value[0].tolist())


@pytest.mark.parametrize(
    "returns", ["{next(names): data * 2}", "(data, next(numbers))", "data.view()[next(shapes)]"]
)
def test_what_only_a_description_says_must_be_as_before(client: RunnerClient, returns: str) -> None:
    prelude = "names, numbers = iter('ab'), iter((1, 2))\nshapes = iter((..., np.newaxis))"
    assert second_call(client, kernel(returns, prelude)).window.described


def test_a_float_that_a_description_changes_counts_until_then(client: RunnerClient) -> None:
    assert second_call(client, kernel("float(data[3])", ANOTHER)).window.described


@pytest.mark.parametrize("returns", ["b'text'", "(data * 2, 1j)", "data[::2]"])
def test_anything_else_counts_until_it_is_described(client: RunnerClient, returns: str) -> None:
    reply = second_call(client, kernel(returns))
    assert reply.window.described
    assert reply.window.claim_ns < reply.window.bracket_ns


def test_an_output_of_another_size_counts_until_it_is_described(client: RunnerClient) -> None:
    reply = second_call(client, kernel("data[: next(sizes)].copy()", "sizes = iter((10, 20))"))
    assert (True, 20) == (reply.window.described, reply.value.size)


def test_a_scalar_that_a_description_changes_counts_until_then(client: RunnerClient) -> None:
    assert second_call(client, kernel("np.float64(data[3])", ANOTHER)).window.described


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


def test_a_helper_that_works_before_the_call_is_bounded_by_the_time_awake(
    client: RunnerClient,
) -> None:
    """And not by its processor time, which a helper that spins while idle uses as well."""
    window = second_call(client, kernel("data * 2", BEFORE)).window
    assert window.outside_ns > 20_000_000 > window.build_cpu_ns


def test_several_calls_share_a_window(client: RunnerClient) -> None:
    reply = second_window(client, kernel("data + 1"), [3, 1, 2])
    assert [[(DATA * one + 1).tolist()] for one in (3, 1, 2)] == [
        [one.tolist()] for one in reply.value
    ]
    assert (False, False, False, 3) == (
        reply.window.described,
        reply.shared,
        reply.aliased,
        reply.parts,
    )


def test_no_place_tells_where_the_data_of_the_next_call_lies(client: RunnerClient) -> None:
    steps = kernel("np.array([data.ctypes.data])")
    places = [int(one[0]) for one in second_window(client, steps, list(range(12))).value]
    assert len(set(places)) == 12
    assert len({later - one for one, later in pairwise(places)}) > 1


def test_what_one_place_for_all_outputs_holds_is_told(client: RunnerClient) -> None:
    prelude = "out = np.zeros(100)"
    assert second_window(client, kernel("np.add(data, 1, out=out)", prelude), [1, 2]).shared


def test_a_changed_input_of_one_of_several_calls_is_seen(client: RunnerClient) -> None:
    changes = kernel("data.sum() if data[1] != 2 else data.fill(7)")
    assert second_window(client, changes, [1, 2, 3]).aliased


def test_what_is_put_back_while_the_output_is_described_was_changed(client: RunnerClient) -> None:
    source = kernel("data * 2", PUT_BACK)
    honest = second_window(client, source, [1, 2]).aliased
    changes = "(data * 2, held.append(data), data.__iadd__(1))[0]"
    changed = second_window(client, kernel(changes, PUT_BACK), [1, 2]).aliased
    assert (False, True) == (honest, changed)


def test_outputs_of_another_number_of_calls_are_refused(client: RunnerClient) -> None:
    with pytest.raises(AuthorFailure) as caught:
        second_window(client, kernel("data * 2", FEWER), [1, 2])
    assert Verdict.RULE_VIOLATION == caught.value.verdict


def test_what_raises_is_refused(client: RunnerClient) -> None:
    with pytest.raises(AuthorFailure) as caught:
        second_call(client, kernel("data / next(empty)", "empty = iter(())"))
    assert Verdict.RUNTIME_ERROR == caught.value.verdict
