"""A session of ranks, here of two on a CPU; their timed calls copy, as those on a GPU may do."""

import time
from collections.abc import Iterator

import pytest
import torch

from kernelbot.harness.data.encode import encode
from kernelbot.harness.gpu.shares import Shares
from kernelbot.harness.judge.calls.gpu_caller import GpuCaller
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.sandbox import RunnerClient, Zygote
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.harness.words.sandbox import Flavour, SandboxUnavailable, ZygoteConfig
from kernelbot.protocol import Limits, SourceFile, Verdict
from tests.harness.outputs import built

ADD = """
import torch.distributed as dist
def custom_kernel(data):
    total = data.clone()
    dist.all_reduce(total)
    return total
"""


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    zygote = Zygote.start(ZygoteConfig(Flavour.TORCH))
    zygote.wait_ready(120)
    yield zygote
    zygote.close()


@pytest.fixture
def session(zygote: Zygote) -> Iterator[Session]:
    client = RunnerClient(zygote.connect())
    limits = Limits(memory_bytes=2 << 30)
    session = Session(client, limits, frozenset(), time.monotonic() + 60, world_size=2)
    session.setup((), "cpu", True, None)
    yield session
    session.abort()
    client.close()


@pytest.fixture
def alone(zygote: Zygote) -> Iterator[Session]:
    """A single runner that isn't set up; its problem has a shared file."""
    client = RunnerClient(zygote.connect())
    session = Session(client, Limits(), frozenset({"shared"}), time.monotonic() + 60)
    yield session
    session.abort()
    client.close()


@pytest.mark.exhaustive  # each run has test_time_for_itself_is_up_before_the_deadline
@pytest.mark.parametrize(
    ("happens", "told"),
    [
        ("import os; os.abort()", "It was ended by SIGABRT"),
        ("import time; time.sleep(600)", "That took longer than"),
    ],
)
def test_a_runner_that_ends_or_hangs_before_the_authors_code_is_not_their_doing(
    alone: Session, happens: str, told: str
) -> None:
    if "sleep" in happens:
        alone.deadline = time.monotonic() + 1  # which it doesn't meet
    files = (SourceFile("shared.py", happens),)
    with pytest.raises(SandboxUnavailable, match="The runner couldn't be set up") as raised:
        alone.setup(files, "cpu", False, None, is_first=True)
    assert [True, True] == [text in str(raised.value) for text in (told, "shared files")]


@pytest.mark.exhaustive  # each run has test_time_for_itself_is_up_before_the_deadline
def test_that_time_is_up_may_be_the_authors_doing_once_their_code_has_run(alone: Session) -> None:
    alone.deadline = time.monotonic() + 1  # which it doesn't meet
    hangs = (SourceFile("shared.py", "import time; time.sleep(600)"),)
    with pytest.raises(AuthorFailure) as raised:
        alone.setup(hangs, "cpu", False, None)
    assert Verdict.TIME_LIMIT is raised.value.verdict


@pytest.mark.exhaustive  # each run has test_time_for_itself_is_up_before_the_deadline
def test_a_judge_that_stood_still_blames_nobody(alone: Session) -> None:
    alone.setup((SourceFile("shared.py", ""),), "cpu", False, None)
    alone.ranks[0].channel.stood_still_s = 7.0
    alone.deadline = time.monotonic() + 1  # which it doesn't meet
    with pytest.raises(SandboxUnavailable, match="stood still for 7 s"):
        load(alone, "import time; time.sleep(600)")


def test_time_for_itself_is_up_before_the_deadline(alone: Session) -> None:
    alone.setup((SourceFile("shared.py", ""),), "cpu", False, None)
    alone.own_limit_s = 0.5
    with pytest.raises(AuthorFailure) as raised:
        load(alone, "import time; time.sleep(600)")
    assert Verdict.TIME_LIMIT is raised.value.verdict
    assert 0.5 <= raised.value.had_s - raised.value.kept_waiting_s < 30


@pytest.mark.exhaustive  # each run has test_time_for_itself_is_up_before_the_deadline
def test_new_ranks_have_no_more_time_for_themselves(session: Session) -> None:
    load(session, ADD)
    session.own_limit_s = 7.0
    session.call(shares(1.0, 2.0, 3.0))
    assert [7.0] * 3 == [rank.own_limit_s for rank in session.ranks]


def shares(*values: float) -> Shares:
    return Shares(tuple(encode(torch.full((4,), value), frozenset()) for value in values))


def load(session: Session, text: str) -> None:
    session.load(SourceFile("submission.py", text), "submission.py")


@pytest.mark.parametrize("kernel", ["author", "identity"])
def test_a_timed_call_brings_every_ranks_output(session: Session, kernel: str) -> None:
    load(session, ADD)
    reply = GpuCaller(session).timed_call(shares(1.0, 2.0), None, False, kernel)
    expected = [3.0, 3.0] if kernel == "author" else [1.0, 2.0]
    assert expected == [float(value[0]) for value in built(reply.value)]
    assert 0 < reply.window.claim_ns <= reply.window.bracket_ns


def test_an_output_that_is_one_ranks_input_is_noticed(session: Session) -> None:
    load(session, ADD.replace("return total", "return data if dist.get_rank() else total"))
    assert session.call(shares(1.0, 2.0)).aliased


@pytest.mark.parametrize("changes", [True, False])
def test_inputs_of_a_single_runner_are_described_with_its_output(
    alone: Session, changes: bool
) -> None:
    alone.setup((SourceFile("shared.py", ""),), "cpu", False, None)
    load(alone, f"def custom_kernel(data):\n    data += {int(changes)}\n    return data * 2\n")
    data = encode(torch.arange(4.0), frozenset())
    reply = alone.call(data, inputs=True)
    (buffers,) = alone.steps.buffers
    alone.ranks[0].channel.close()  # nobody is there to be asked
    assert changes == buffers.inputs_changed(data)
    assert [2.0 * (one + changes) for one in range(4)] == built(reply.value).tolist()


def test_inputs_of_a_call_are_not_those_of_the_call_before(alone: Session) -> None:
    alone.setup((SourceFile("shared.py", ""),), "cpu", False, None)
    load(alone, "def custom_kernel(data):\n    data += data[0] > 0\n    return data * 2\n")
    still, moved = (encode(torch.full((4,), one), frozenset()) for one in (0.0, 1.0))
    alone.call(still, inputs=True)
    assert not alone.inputs_changed(still)
    alone.call(moved)
    assert alone.inputs_changed(moved)


def test_inputs_are_asked_of_every_rank(session: Session) -> None:
    load(session, ADD.replace("return total", "data += dist.get_rank(); return total"))
    data = shares(1.0, 2.0)
    session.call(data)
    assert session.inputs_changed(data)


@pytest.mark.exhaustive  # each run has test_inputs_of_a_single_runner_are_described_with_its_output
def test_what_all_ranks_printed_is_kept_over_new_ranks(session: Session) -> None:
    load(session, "print('hello')\n" + ADD)
    session.call(shares(1.0, 2.0, 3.0))
    session.terminate()
    assert 5 == session.abort().stdout.count("hello")


def test_a_rank_that_dies_in_a_call_ends_all(session: Session) -> None:
    dies = "dist.get_rank() and __import__('os')._exit(4)\n    total ="
    load(session, ADD.replace("total =", dies))
    with pytest.raises(AuthorFailure) as failure:
        session.call(shares(1.0, 2.0))
    said = "Rank 1 ended its own process with exit code 4. Return from custom_kernel"
    assert said == failure.value.message[: len(said)]
