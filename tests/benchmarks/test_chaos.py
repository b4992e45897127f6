import os
import random
import signal
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from benchmarks.chaos import priority, until_a_signal
from benchmarks.chaos_ends import Fate, RunEnd, fate, fates
from benchmarks.chaos_orders import make_orders
from benchmarks.chaos_processes import Command, Kind, kinds

from kernelbot.domain.states import RunState
from kernelbot.protocol import Fault, Mode, Verdict
from kernelbot.runs.repeats import _unranked

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def a_run(**changed: Any) -> RunEnd:
    """An honest one that ended well, but for what is changed."""
    usual: dict[str, Any] = {
        "submission_id": 7,
        "run_id": 9,
        "file_name": "mine.py",
        "mode": Mode.LEADERBOARD,
        "device": "CPU",
        "secret": True,
        "state": RunState.FINISHED,
        "verdict": Verdict.ACCEPTED,
        "fault": None,
        "message": None,
        "created_at": NOON,
        "finished_at": NOON,
        "lost_attempts": 0,
        "results": 1,
        "ends": 1,
        "standings": 1,
    }
    return RunEnd(**(usual | changed))


def failed(verdict: Verdict, fault: Fault, **changed: Any) -> RunEnd:
    return a_run(verdict=verdict, fault=fault, standings=0, **changed)


OURS = (Verdict.INTERNAL_ERROR, Fault.PLATFORM)
ENDS = {
    "as it should": (a_run(), Fate.RIGHT),
    "at the third attempt": (a_run(lost_attempts=2), Fate.RIGHT),
    "after three losses": (failed(*OURS, lost_attempts=3, results=0), Fate.GAVE_UP),
    "after one loss": (failed(*OURS, lost_attempts=1), Fate.OURS),
    "on a machine that stayed too busy": (failed(*OURS, message=_unranked(0.9)), Fate.GAVE_UP),
    "not at all": (a_run(state=RunState.QUEUED, verdict=None, ends=0), Fate.LOST),
    "cancelled": (a_run(state=RunState.CANCELLED, verdict=None), Fate.LOST),
    "without a word": (a_run(ends=0), Fate.LOST),
    "with two results": (a_run(results=2), Fate.DOUBLED),
    "told twice": (a_run(ends=2), Fate.DOUBLED),
    "with two standings": (a_run(standings=2), Fate.DOUBLED),
    "blamed": (failed(Verdict.RUNTIME_ERROR, Fault.AUTHOR), Fate.BLAMED),
    "our failure, held against them": (
        failed(Verdict.INTERNAL_ERROR, Fault.AUTHOR, lost_attempts=3),
        Fate.BLAMED,
    ),
}


@pytest.mark.parametrize(("run", "expected"), ENDS.values(), ids=list(ENDS))
def test_the_end_of_an_honest_one(run: RunEnd, expected: Fate) -> None:
    assert expected == fate([a_run(), run], Verdict.ACCEPTED)


def test_blame_outweighs_a_run_that_was_given_up() -> None:
    runs = [failed(*OURS, lost_attempts=3), failed(Verdict.TIME_LIMIT, Fault.AUTHOR)]
    assert Fate.BLAMED == fate(runs, Verdict.ACCEPTED)


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [(Verdict.WRONG_ANSWER, Fate.RIGHT), (Verdict.TIME_LIMIT, Fate.MISJUDGED)],
)
def test_a_wrong_one_has_its_own_verdict(verdict: Verdict, expected: Fate) -> None:
    assert expected == fate([failed(verdict, Fault.AUTHOR)], Verdict.WRONG_ANSWER)


PASSED = a_run(secret=False, standings=0)
FAILED = failed(Verdict.WRONG_ANSWER, Fault.AUTHOR, secret=False)
RANKED = {
    "whose timing is missing": ([PASSED], Verdict.ACCEPTED, Fate.LOST),
    "that was timed on another device": (
        [PASSED, a_run(device="SLURM")],
        Verdict.ACCEPTED,
        Fate.LOST,
    ),
    "that was timed": ([PASSED, a_run()], Verdict.ACCEPTED, Fate.RIGHT),
    "that failed": ([FAILED], Verdict.WRONG_ANSWER, Fate.RIGHT),
}


@pytest.mark.parametrize(("runs", "verdict", "expected"), RANKED.values(), ids=list(RANKED))
def test_a_ranked_one(runs: list[RunEnd], verdict: Verdict, expected: Fate) -> None:
    assert expected == fate(runs, verdict)


def test_a_test_run_alone_is_no_ranked_one_that_lacks_its_timing() -> None:
    assert Fate.RIGHT == fate([replace(PASSED, mode=Mode.TEST)], Verdict.ACCEPTED)


def test_a_wrong_one_that_is_accepted_is_misjudged() -> None:
    assert Fate.MISJUDGED == fate([a_run()], Verdict.WRONG_ANSWER)


def test_what_the_server_took_and_does_not_have_is_lost() -> None:
    expected = {7: Fate.RIGHT, 8: Fate.LOST}
    assert expected == fates({7: [a_run()]}, {"mine.py": Verdict.ACCEPTED}, answered=[7, 8])


def test_each_process_has_its_kind() -> None:
    commands = [
        Command(1, "kernelbot", "python -m kernelbot serve --port 1"),
        Command(2, "kb:worker", "python -P -m kernelbot.server.child kernelbot.server.work"),
        Command(3, "kb:answerer", "python -P -m kernelbot.server.child kernelbot.server.answer 5"),
        Command(4, "postgres", "postgres -D /proc/self/cwd"),
        Command(5, "kb:host", "python -P -m kernelbot.harness host --warm numpy"),
        Command(6, "kb:judges", "kb:judges numpy"),
        Command(7, "kb:judge", "kb:judge"),
        Command(8, "bwrap", "bwrap --unshare-all -- python"),
        Command(9, "kb:forker", "kb:forker numpy"),
        Command(11, "kb:init", "kb:init"),
        Command(12, "kb:runner", "kb:runner"),
        Command(13, "kb:cage", "kb:cage"),
    ]
    expected = {
        1: Kind.SERVE,
        2: Kind.WORKER,
        3: Kind.ANSWER,
        5: Kind.HOST,
        6: Kind.JUDGES,
        7: Kind.JUDGE,
        8: Kind.BUBBLEWRAP,
        9: Kind.ZYGOTE,
        11: Kind.INIT,
        12: Kind.RUNNER,
        13: Kind.RUNNER,
    }
    assert expected == kinds(commands, serve_pid=1)


def test_processes_of_a_job_on_a_node_have_kinds_too() -> None:
    commands = [
        Command(1, "slurm_script", "/bin/bash /var/spool/job00001/slurm_script"),
        Command(2, "kb:node", "python3 -I /scratch/harness/0a1b node --payload - --gpus "),
        Command(3, "kb:host", "python3 -I /scratch/harness/0a1b host --jobs /jobs"),
        Command(4, "kb:judges", "kb:judges numpy"),
        Command(5, "bwrap", "bwrap --unshare-all -- python"),
        Command(6, "bash", "bash /agent/checkout/deploy/buildkite/run-job.sh"),
        Command(7, "sh", "/bin/sh deploy/runner/judge-payload"),
        Command(8, "sha256sum", "sha256sum harness.pyz"),
    ]
    expected = {
        1: Kind.SCRIPT,
        2: Kind.NODE,
        3: Kind.NODE,
        4: Kind.JUDGES,
        5: Kind.BUBBLEWRAP,
        6: Kind.SCRIPT,
        7: Kind.CONTAINER,
    }
    assert expected == kinds(commands)


def test_orders_take_turns_on_the_devices() -> None:
    orders = make_orders(3, random.Random(1), ["CPU", "SLURM"])
    assert ["CPU", "SLURM", "CPU"] == [order.device for order in orders]


def test_no_two_orders_have_the_same_code() -> None:
    orders = make_orders(60, random.Random(1))
    assert 60 == len({order.code for order in orders})


def test_what_had_no_time_to_end_is_not_lost() -> None:
    ends = {7: [a_run(state=RunState.RUNNING, verdict=None, ends=0)], 8: [a_run(file_name="b.py")]}
    expected = {"mine.py": Verdict.ACCEPTED, "b.py": Verdict.ACCEPTED}
    found = fates(ends, expected, [7, 8, 9], waited=False)
    assert {7: Fate.OPEN, 8: Fate.RIGHT, 9: Fate.LOST} == found
    assert Fate.LOST == fates(ends, expected, [7, 8, 9])[7]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with until_a_signal() as ended:
        assert not ended.is_set()
        os.kill(os.getpid(), number)
        assert ended.wait(60)
    assert before == signal.getsignal(number)


def test_what_is_started_within_a_priority_has_it() -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with priority(before + 1):
        started = subprocess.run(["nice"], capture_output=True, text=True, check=True)
    assert str(before + 1) == started.stdout.strip()
