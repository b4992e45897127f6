"""Timed calls on a CPU: what is taken when the mark is seen, and what must be described."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kernelbot.harness.data.encode import encode
from kernelbot.harness.judge.calls.callers import Several
from kernelbot.harness.judge.calls.in_place_caller import InPlaceCaller
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.sandbox import RunnerClient, Zygote
from kernelbot.harness.sandbox.runner_tree import RunnerTree
from kernelbot.harness.timing.clocks import own_delay_ns
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.harness.words.sandbox import Flavour, ZygoteConfig
from kernelbot.harness.words.windows import Reply
from kernelbot.protocol import Limits, SourceFile, Verdict
from tests.harness.outputs import built

DATA = np.arange(100.0)
LATER = """
import sys
marks = sys.modules["kernelbot.harness.inside.marks.marks"]

def call(self, *given, real=marks.NativeMarks.call):
    outputs = real(self, *given)
    outputs[0][:] = 7.0
    return outputs

marks.NativeMarks.call = call
"""

AFTERWARDS = """
import sys, time
runner = sys.modules["kernelbot.harness.inside.runner.runner"]

def encode(*given, real=runner.encode, **options):
    until = time.HOW() + 0.025
    while time.HOW() < until:
        time.sleep(0.01 if "HOW" == "monotonic" else 0)
    return real(*given, **options)

runner.encode = encode
"""

ANOTHER = """
import sys
runner = sys.modules["kernelbot.harness.inside.runner.runner"]

def encode(value, *given, real=runner.encode, **options):
    return real([value[0] + 1], *given, **options)

runner.encode = encode
"""
FEWER = """
import sys
runner = sys.modules["kernelbot.harness.inside.runner.runner"]

def encode(value, *given, real=runner.encode, **options):
    return real(value[:1], *given, **options)

runner.encode = encode
"""
LEFT_WHERE_IT_LIES = """
import sys
runner = sys.modules["kernelbot.harness.inside.runner.runner"]

def encode(*given, real=runner.encode, **options):
    return real(*given, **{**options, "stays": lambda start, end: True})

runner.encode = encode
"""
PUT_BACK = """
import sys
runner = sys.modules["kernelbot.harness.inside.runner.runner"]
held = []

def encode(*given, real=runner.encode, **options):
    while held:
        held.pop()[0] -= 1
    return real(*given, **options)

runner.encode = encode
"""
BEFORE = """
import sys, threading, time
runner = sys.modules["kernelbot.harness.inside.runner.runner"]

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


@pytest.fixture(scope="module")
def torch_client() -> Iterator[RunnerClient]:
    pytest.importorskip("torch")
    zygote = Zygote.start(ZygoteConfig(Flavour.TORCH, spare=1))
    zygote.wait_ready(60)
    client = RunnerClient(zygote.connect())
    yield client
    client.close()
    zygote.close()


def second_window(client: RunnerClient, source: str, numbers: list[Any]) -> Reply:
    """The second of two windows with a call for each number; all inputs are as they were then."""
    session = Session(client, Limits(), frozenset(), time.monotonic() + 60)
    try:
        session.setup((), "cpu", fresh_output=False, outputs=None)
        session.load(SourceFile("submission.py", source), "submission.py")
        caller = InPlaceCaller(session, compares_inputs=True)
        data = Several(tuple(encode(DATA * number, frozenset()) for number in numbers))
        caller.timed_call(data, None, reuse=False)
        reply = caller.timed_call(data, None, reuse=True)
        aliased = reply.aliased or caller.inputs_changed(data)
        return replace(reply, value=built(reply.value), aliased=aliased)
    finally:
        session.abort()


def second_call(client: RunnerClient, source: str) -> Reply:
    """The second of two calls: the first one shows where an output lies."""
    session = Session(client, Limits(), frozenset(), time.monotonic() + 60)
    try:
        session.setup((), "cpu", fresh_output=False, outputs=None)
        session.load(SourceFile("submission.py", source), "submission.py")
        caller = InPlaceCaller(session)
        data = encode(DATA, frozenset())
        caller.timed_call(data, None, reuse=False)
        reply = caller.timed_call(data, None, reuse=True)
        return replace(reply, value=built(reply.value))
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


VIEWS = [
    "(data * 2)[::2]",
    "(data * 2)[::-1]",
    "(data * 2).reshape(10, 10)[:, 3:7]",
    "(data * 2).reshape(10, 10)[::-3, ::-2].T",
    "(data * 2 + 1j).imag",
    "{'even': (data * 2)[::2], 'sum': float(data.sum()), 'rest': [data[1::2] + 1]}",
    "((data * 2).reshape(10, 10)[::-1], np.zeros((3, 0))[::2])",
    "np.zeros(100, [('key', 'i4'), ('value', 'f8')])['value']",
]


@pytest.mark.parametrize("returns", VIEWS)
def test_so_are_views_with_gaps_and_reversed_ones(client: RunnerClient, returns: str) -> None:
    reply = second_call(client, kernel(returns))
    expected = eval(returns, {"data": DATA, "np": np})
    assert (False, str(expected)) == (reply.window.described, str(reply.value))


@pytest.mark.exhaustive  # each run has test_arrays_are_taken_at_the_mark
@pytest.mark.parametrize(
    "returns",
    [
        "given[3:]",
        "given[5::2]",
        "given.reshape(10, 10)[2:, 1::3].T",
        "given.reshape(10, 10)[:, :7].chunk(2)",
        "torch.complex(given, given).imag",
    ],
)
def test_so_are_views_of_tensors(torch_client: RunnerClient, returns: str) -> None:
    """A mark has the address of their storage, and not of their first element."""
    reply = second_call(
        torch_client,
        kernel(returns.replace("given", "(2 * torch.from_numpy(data))"), "import torch"),
    )
    torch = pytest.importorskip("torch")
    expected = eval(returns, {"given": 2 * torch.from_numpy(DATA), "torch": torch})
    assert (False, str(expected)) == (reply.window.described, str(reply.value))


def test_describing_a_view_is_in_no_time(client: RunnerClient) -> None:
    """However long it takes: copying what has gaps was once done while the clock went on."""
    slow = AFTERWARDS.replace("HOW", "monotonic")
    window = second_call(client, kernel("(data * 2)[::-2]", slow)).window
    assert (False, True) == (window.described, window.outside_ns > 20_000_000)


def test_what_is_written_to_a_view_after_the_mark_is_not_in_it(client: RunnerClient) -> None:
    reply = second_call(client, kernel("(data * 2)[::-2]", LATER))
    assert (False, (DATA * 2)[::-2].tolist()) == (reply.window.described, reply.value.tolist())


@pytest.mark.parametrize(
    "returns",
    [
        "data[::2]",
        "data[::-1]",
        "np.lib.stride_tricks.sliding_window_view(data * 2, 3)",
        "np.broadcast_to(data * 2, (3, 100))",
    ],
)
def test_where_copying_may_be_the_work_it_counts(client: RunnerClient, returns: str) -> None:
    """Of views of an input, and of elements that share bytes."""
    reply = second_call(client, kernel(returns))
    expected = eval(returns, {"data": DATA, "np": np})
    assert (True, expected.tolist()) == (reply.window.described, reply.value.tolist())
    assert reply.gaps


@pytest.mark.parametrize("before", ["data", "(data * 2)"])
def test_a_view_of_an_input_is_copied_before_it_is_taken(client: RunnerClient, before: str) -> None:
    """A description that says where it lies, and copies nothing, would cost less."""
    returns = f"{before}[::-1] if next(calls) == 1 else data[::-1]"
    with pytest.raises(AuthorFailure) as caught:
        second_call(client, kernel(returns, LEFT_WHERE_IT_LIES + "calls = iter((1, 2))"))
    assert Verdict.RULE_VIOLATION == caught.value.verdict


def test_views_that_move_count_until_they_are_described(client: RunnerClient) -> None:
    steps = "steps = iter((2, 3))"
    reply = second_call(client, kernel("np.arange(60.)[:: next(steps)][:20]", steps))
    assert (True, list(range(0, 60, 3))) == (reply.window.described, reply.value.tolist())


@pytest.mark.parametrize("returns", ["b'text'", "(data * 2, 1j)"])
def test_anything_else_counts_until_it_is_described(client: RunnerClient, returns: str) -> None:
    reply = second_call(client, kernel(returns))
    assert reply.window.described
    assert reply.window.claim_ns < reply.window.bracket_ns


def test_an_output_of_another_size_counts_until_it_is_described(client: RunnerClient) -> None:
    reply = second_call(client, kernel("data[: next(sizes)].copy()", "sizes = iter((10, 20))"))
    assert (True, 20) == (reply.window.described, reply.value.size)


@pytest.mark.parametrize(
    ("returns", "prelude", "disowned"),
    [
        ("data * 2", "", False),
        ("float(data[3])", ANOTHER, True),
        ("next(answers)", "answers = iter((True, False))", True),
        ("data[: next(sizes)].copy()", "sizes = iter((10, 20))", True),
        ("b'text'", "", False),  # of which no mark tells
    ],
)
def test_an_output_that_is_described_as_another_was_disowned(
    client: RunnerClient, returns: str, prelude: str, *, disowned: bool
) -> None:
    window = second_call(client, kernel(returns, prelude)).window
    assert disowned == window.disowned


def test_what_is_computed_after_the_mark_is_known(client: RunnerClient) -> None:
    idle, busy, helped = (
        second_call(client, kernel("data * 2", source)).window.describing_ns
        for source in (
            AFTERWARDS.replace("HOW", "monotonic"),
            AFTERWARDS.replace("HOW", "thread_time"),
            BEFORE.replace("decode", "encode"),
        )
    )
    assert min(busy, helped) > 20_000_000 > idle


@pytest.mark.exhaustive
def test_arrays_in_too_many_pieces_are_refused(client: RunnerClient) -> None:
    """An honest runner copies those beyond what the judge reads."""
    pieces = "np.zeros(1 << 28, np.uint8)[:: 1 << 13]"
    one_by_one = f"tuple({pieces} for _ in range(5))"
    honest = second_call(client, kernel(one_by_one))
    assert ([1 << 15] * 5, True) == ([part.size for part in honest.value], honest.window.described)
    boundless = "import sys\nelements = sys.modules['kernelbot.harness.data.elements']\n"
    boundless += "elements.ReadingCost.add = lambda *_: True"
    with pytest.raises(AuthorFailure) as caught:
        second_call(client, kernel(one_by_one, boundless))
    assert (Verdict.RULE_VIOLATION, True) == (caught.value.verdict, "pieces" in str(caught.value))


@pytest.mark.exhaustive  # each run has test_arrays_are_taken_at_the_mark
def test_what_the_judge_waits_while_it_stops_a_runner_is_subtracted_from_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However long it takes: the runner's author decides that."""
    begun, ended = list[int](), list[int]()

    def halt(self: RunnerTree, real: Callable[[RunnerTree], None] = RunnerTree.halt) -> None:
        begun.append(own_delay_ns())
        real(self)
        for _ in range(5_000):
            time.sleep(1e-5)
        ended.append(own_delay_ns())

    monkeypatch.setattr(RunnerTree, "halt", halt)
    processor = min(os.sched_getaffinity(0))
    zygote = Zygote.start(ZygoteConfig(Flavour.NUMPY, spare=1, cpus=(processor,)))
    zygote.wait_ready(60)
    client = RunnerClient(zygote.connect())
    window = second_call(client, kernel("(data * 2, time.sleep(0.05))[0]", "import time")).window
    client.close()
    zygote.close()
    in_the_call_ns = begun[-2] - ended[-3]  # it was stopped before, after, and once described
    assert window.waiting_ns - (window.kept_waiting_ns or 0) <= in_the_call_ns


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


@pytest.mark.parametrize(("returns", "shared"), [("data[:3] * 2", False), ("out[::-2]", True)])
def test_so_is_what_it_holds_in_between(
    client: RunnerClient, returns: str, *, shared: bool
) -> None:
    prelude = "out = np.zeros(100)"
    assert shared == second_window(client, kernel(returns, prelude), [1, 2]).shared


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
