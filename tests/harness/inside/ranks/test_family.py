"""Ranks are processes of one sandbox, each with a channel of its own; they end together."""

import os
import time
from collections.abc import Iterator

import pytest

from kernelbot.harness.data.channel import Channel
from kernelbot.harness.sandbox import Runner, RunnerClient, Zygote
from kernelbot.harness.words.failures import death
from kernelbot.harness.words.order import RunnerEntry
from kernelbot.harness.words.runner_messages import Load, RequestRefused, RunnerReply, SetUp
from kernelbot.harness.words.sandbox import Flavour, ZygoteConfig
from kernelbot.protocol import Limits

SETUP = SetUp({}, (), "cpu", fresh_output=False, outputs=None)
BIND = "import socket\nkept = socket.socket(); kept.bind(('127.0.0.1', 29999)); kept.listen()\n"
CONNECT = "import socket\nsocket.create_connection(('127.0.0.1', 29999), 5).close()\n"
OUTSIDE = "import socket\nsocket.create_connection(('192.0.2.1', 80), 5)\n"
KERNEL = "def custom_kernel(data): return data\n"


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE))
    zygote.wait_ready(60)
    yield zygote
    zygote.close()


@pytest.fixture
def family(zygote: Zygote) -> Iterator[Runner]:
    client = RunnerClient(zygote.connect())
    runner = client.spawn(Limits(), RunnerEntry.RANKS, channels=3)
    yield runner
    runner.kill()
    client.close()


def load(runner: Runner, rank: int, text: str) -> str:
    channel = Channel(runner.channels[rank])
    channel.send(SETUP)
    channel.receive(RunnerReply, time.monotonic() + 60)
    channel.send(Load(f"rank{rank}.py", text))
    reply, _ = channel.receive(RunnerReply, time.monotonic() + 60)
    return reply.why if isinstance(reply, RequestRefused) else reply.word


def test_every_rank_is_a_process_that_answers_by_itself(family: Runner) -> None:
    assert 3 == len(set(family.rank_pids))
    assert ["loaded"] * 3 == [load(family, rank, KERNEL) for rank in range(3)]


def test_ranks_share_a_loopback_and_no_other_network(family: Runner) -> None:
    answers = [load(family, 0, BIND + KERNEL), load(family, 1, CONNECT + KERNEL)]
    assert ["loaded", "loaded", "raised"] == [*answers, load(family, 2, OUTSIDE + KERNEL)]


@pytest.mark.parametrize(
    ("last_words", "message"),
    [
        ("import os; os._exit(3)", "Rank 2 ended its own process with exit code 3. Return"),
        ("import os, signal; os.kill(os.getpid(), 11)", "Rank 2 was ended by SIGSEGV"),
        ("import os, signal; os.kill(os.getpid(), 9)", "Rank 2 was ended by SIGKILL"),
    ],
)
def test_a_rank_that_ends_is_named_and_takes_all_along(
    family: Runner, last_words: str, message: str
) -> None:
    Channel(family.channels[2]).send(Load("a.py", last_words))
    ended = family.wait(60)
    assert ended is not None
    assert str(death(ended, Limits())).startswith(message)
    assert [] == [pid for pid in family.rank_pids if os.path.exists(f"/proc/{pid}")]  # noqa: PTH110


def test_the_parent_of_the_ranks_is_closed_to_them(family: Runner) -> None:
    peek = "import os\nopen(f'/proc/{os.getppid()}/mem', 'rb')\n"
    assert "raised" == load(family, 1, peek + KERNEL)
