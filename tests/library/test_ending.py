"""Cancelled tasks, hosts that are killed, and what is left of either."""

import asyncio
import contextlib
import gc
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from kernelbot import Judge
from kernelbot.domain.errors import UserError
from kernelbot.library import hosting
from kernelbot.protocol import Fault, Mode, Verdict
from tests.library.sources import ENDLESS, ENDLESS_IMPORT, RIGHT, TIMED_ENDLESS
from tests.support.exhaustive import cases
from tests.support.waiting import until
from tests.support.warm import busy_runners, pids_of_judges

PHASES = {"importing": ENDLESS_IMPORT, "testing": ENDLESS, "timing": TIMED_ENDLESS}


@pytest.fixture
async def judge(home: Path, open_files: None) -> AsyncIterator[Judge]:
    async with Judge(slots=2) as opened:
        yield opened


def host_of(home: Path) -> int:
    (pid,) = pids_of_judges(home / "kernelbot")
    return pid


@pytest.mark.exhaustive  # each run has test_the_end_of_the_block_ends_what_is_being_judged
@pytest.mark.parametrize("phase", cases(PHASES, always=["testing"]))
async def test_a_cancelled_task_ends_its_judging(
    judge: Judge, home: Path, patient: Path, phase: str
) -> None:
    mode = Mode.BENCHMARK if phase == "timing" else Mode.TEST
    task = asyncio.create_task(judge.judge(patient, PHASES[phase], mode=mode))
    await until(lambda: busy_runners(home))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not busy_runners(home))  # killed, which the system needs a moment for
    assert Verdict.ACCEPTED == (await judge.judge(patient, RIGHT)).verdict


@pytest.mark.exhaustive  # each run has test_the_end_of_the_block_ends_what_is_being_judged
async def test_one_that_waits_for_its_turn_is_cancelled_at_once(
    judge: Judge, home: Path, patient: Path
) -> None:
    tasks = [asyncio.create_task(judge.judge(patient, ENDLESS)) for _ in range(3)]
    await until(lambda: len(busy_runners(home)) == 2)
    tasks[2].cancel()
    await asyncio.wait(tasks[2:])
    assert [False, False, True] == [task.cancelled() for task in tasks]
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_nobody_judges_on_for_a_loop_that_was_left(
    judge: Judge, home: Path, patient: Path
) -> None:
    reports = judge.many([(patient, RIGHT), (patient, ENDLESS), (patient, ENDLESS)])
    async for _ in reports:
        break
    await reports.aclose()
    await until(lambda: not busy_runners(home))


async def test_the_end_of_the_block_ends_what_is_being_judged(home: Path, patient: Path) -> None:
    async with Judge(slots=2) as judge:
        task = asyncio.create_task(judge.judge(patient, ENDLESS))
        await until(lambda: busy_runners(home))
    await until(lambda: not busy_runners(home))
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.exhaustive  # each run has test_the_end_of_the_block_ends_what_is_being_judged
async def test_nothing_is_begun_while_a_block_ends(home: Path, patient: Path) -> None:
    async with Judge(slots=2) as judge:

        async def again_and_again() -> str:
            while True:
                with contextlib.suppress(asyncio.CancelledError):
                    try:
                        await judge.judge(patient, ENDLESS)
                    except UserError as error:
                        return str(error)

        task = asyncio.create_task(again_and_again())
        await until(lambda: busy_runners(home))
    assert "This judge isn't open." == await task


async def test_a_block_of_a_judge_that_is_open_is_a_mistake(judge: Judge, patient: Path) -> None:
    with pytest.raises(UserError, match="open already"):
        await judge.__aenter__()
    assert Verdict.ACCEPTED == (await judge.judge(patient, RIGHT)).verdict


@pytest.mark.exhaustive  # each run has test_a_block_of_a_judge_that_is_open_is_a_mistake
async def test_a_task_that_is_cancelled_twice_has_ended_its_judging(
    judge: Judge, home: Path, patient: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tasks = [asyncio.create_task(judge.judge(patient, ENDLESS)) for _ in range(2)]
    await until(lambda: len(busy_runners(home)) == 2)
    for _ in range(2):
        for task in tasks:
            task.cancel()
        await asyncio.sleep(0)
    await asyncio.wait(tasks)
    del task, tasks
    gc.collect()
    assert Verdict.ACCEPTED == (await judge.judge(patient, RIGHT)).verdict
    assert [] == [record.getMessage() for record in caplog.records]


@pytest.mark.exhaustive
async def test_a_cancelled_task_ends_a_host_that_stands_still(
    judge: Judge, home: Path, patient: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "_STOP_S", 0.1)  # it doesn't end the job, however long it has
    task = asyncio.create_task(judge.judge(patient, ENDLESS))
    await until(lambda: busy_runners(home))
    os.kill(stopped := host_of(home), signal.SIGSTOP)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert Verdict.ACCEPTED == (await judge.judge(patient, RIGHT)).verdict
    assert stopped != host_of(home)


async def killing_hosts(home: Path, when: Callable[[], object], times: int) -> None:
    killed = set[int]()
    for _ in range(times):
        await until(lambda: set(pids_of_judges(home / "kernelbot")) - killed and when())
        killed.add(host_of(home))
        os.kill(host_of(home), signal.SIGKILL)


@pytest.mark.exhaustive
async def test_a_host_that_is_killed_is_replaced(judge: Judge, home: Path, patient: Path) -> None:
    await judge.judge(patient, RIGHT)
    spin = "    import time\n    while time.process_time() < 3: pass\n    return"
    task = asyncio.create_task(judge.judge(patient, RIGHT.replace("    return", spin)))
    await until(lambda: busy_runners(home))
    os.kill(killed := host_of(home), signal.SIGKILL)
    assert (Verdict.ACCEPTED, True) == ((await task).verdict, killed != host_of(home))


@pytest.mark.exhaustive
async def test_a_host_that_stands_still_is_ended_and_replaced(
    judge: Judge, home: Path, sums: Path
) -> None:
    assert Verdict.ACCEPTED == (await judge.judge(sums, RIGHT)).verdict
    stopped = host_of(home)
    os.kill(stopped, signal.SIGSTOP)
    assert Verdict.ACCEPTED == (await judge.judge(sums, RIGHT)).verdict
    assert stopped != host_of(home)


@pytest.mark.exhaustive
async def test_a_job_that_brings_hosts_down_loses_its_own_report_alone(
    judge: Judge, home: Path, patient: Path
) -> None:
    """The endless one's runner is the sign to kill the host, twice: as if it had done it."""
    slow = RIGHT.replace("    return", "    import time; time.sleep(0.5)\n    return")
    killer = asyncio.create_task(killing_hosts(home, lambda: busy_runners(home), 2))
    pairs = [(patient, ENDLESS), *((patient, f"{slow}# {n}") for n in range(3))]
    reports = {report.number: report async for report in judge.many(pairs)}
    await killer
    assert [Verdict.INTERNAL_ERROR, *[Verdict.ACCEPTED] * 3] == [
        reports[number].verdict for number in range(4)
    ]
    lost = reports[0]
    assert (Fault.PLATFORM, None) == (lost.fault, lost.reward("correct"))
    assert "ended in the middle; somebody may have killed it" in lost.message
