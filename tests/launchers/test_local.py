import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import kernelbot.launchers.host as host_process
from kernelbot.domain.errors import PlatformError
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.host import PATIENCE_S
from kernelbot.launchers.local import LocalLauncher, LocalSettings
from kernelbot.protocol import (
    DeviceSpec,
    EventKind,
    JobSpec,
    Mode,
    ProgressEvent,
    SourceFile,
    Vendor,
    Verdict,
)
from kernelbot.server.judge_once import HARNESS
from tests.support.problems import sort_problem
from tests.support.results import result_in
from tests.support.searching import MARK, bare_job, searching_submission
from tests.support.waiting import until, until_told
from tests.support.workers import FAKE_HARNESS, hosts_that_live, kill_fake_hosts

REAL_HOST = (*HARNESS, "host")


def _job(text: str, job_id: str = "1.1.x", device: str = "CPU") -> JobSpec:
    return JobSpec(
        job_id,
        sort_problem().spec,
        SourceFile("fast.py", f"# fake: {text}\n"),
        Mode.TEST,
        DeviceSpec(device, Vendor.CPU),
    )


@contextlib.asynccontextmanager
async def _launcher(
    folder: Path, command: tuple[str, ...] = FAKE_HARNESS, patience_s: float = PATIENCE_S
) -> AsyncIterator[LocalLauncher]:
    launcher = LocalLauncher(LocalSettings(folder / "jobs", {"CPU": command}, patience_s))
    await launcher.start()
    try:
        yield launcher
    finally:
        await launcher.close()


async def _events(launcher: LocalLauncher, handle: str) -> list[ProgressEvent]:
    return [event async for batch in launcher.events(handle) for event in batch]


async def _poll(launcher: LocalLauncher, handle: str) -> Outcome:
    return (await launcher.poll([handle]))[handle]


async def _outcome(launcher: LocalLauncher, handle: str) -> Outcome:
    async with asyncio.timeout(60):
        while True:
            outcome = await _poll(launcher, handle)
            if outcome.state != JobState.RUNNING:
                return outcome
            await asyncio.sleep(0.02)


async def test_a_job_has_events_and_a_result(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        handle = await launcher.launch(_job("accepted"))
        kinds = [event.kind for event in await _events(launcher, handle)]
        outcome = await _poll(launcher, handle)
    assert kinds == [EventKind.STARTED, EventKind.PHASE_STARTED]
    assert result_in(outcome, _job("accepted")).verdict == Verdict.ACCEPTED


async def test_launching_twice_runs_once(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        first = await launcher.launch(_job("accepted"))
        await _events(launcher, first)
        second = await launcher.launch(_job("accepted"))
        await _outcome(launcher, second)
    judged = (tmp_path / "jobs" / "judged.log").read_text().split()
    assert (first == second, judged) == (True, ["1.1.x"])


async def test_another_process_reads_a_finished_job(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        handle = await launcher.launch(_job("accepted"))
        await _events(launcher, handle)
    async with _launcher(tmp_path) as another:
        assert await _events(another, handle) == []
        assert (await _poll(another, handle)).state == JobState.FINISHED


async def test_a_job_whose_host_died_is_lost(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        handle = await launcher.launch(_job("sleep 600 accepted"))
        await _begun(tmp_path)
        kill_fake_hosts()
        await _events(launcher, handle)
        assert (await _outcome(launcher, handle)).state == JobState.LOST


async def test_after_a_death_the_next_job_finds_a_new_host(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        dead = await launcher.launch(_job("die", "1.1.x"))
        await _events(launcher, dead)
        alive = await launcher.launch(_job("accepted", "2.1.x"))
        assert (await _outcome(launcher, alive)).state == JobState.FINISHED


async def test_a_job_that_its_host_gave_up_is_lost(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        handle = await launcher.launch(_job("give-up full"))
        await _events(launcher, handle)
        assert await _poll(launcher, handle) == Outcome(JobState.LOST, reason="full")


async def test_a_host_that_stands_still_is_killed_when_the_time_is_up(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        handle = await launcher.launch(_job("stop"))
        await _be_overdue(tmp_path, handle)
        outcome = await _outcome(launcher, handle)
        after = await _outcome(launcher, await launcher.launch(_job("accepted", "2.1.x")))
    assert (outcome.state, after.state) == (JobState.LOST, JobState.FINISHED)


async def test_a_host_that_stays_stopped_is_killed_before_the_time_is_up(tmp_path: Path) -> None:
    async with _launcher(tmp_path, patience_s=5) as launcher:
        handle = await launcher.launch(_job("stop"))
        await _events(launcher, handle)
        outcome = await _poll(launcher, handle)
        after = await _outcome(launcher, await launcher.launch(_job("accepted", "2.1.x")))
    assert Outcome(JobState.LOST, reason="the harness stood still, so it was ended") == outcome
    assert JobState.FINISHED == after.state


# Each run has test_a_host_that_stays_stopped_is_killed_before_the_time_is_up
@pytest.mark.exhaustive
async def test_a_host_that_answers_is_kept_however_long_its_job_is_silent(tmp_path: Path) -> None:
    async with _launcher(tmp_path, patience_s=5) as launcher:
        handle = await launcher.launch(_job("sleep 7 accepted"))
        assert JobState.FINISHED == (await _outcome(launcher, handle)).state


# Each run has test_a_host_that_stays_stopped_is_killed_before_the_time_is_up.
@pytest.mark.exhaustive
async def test_a_host_may_take_longer_than_that_to_start(tmp_path: Path) -> None:
    slow = ("/bin/sh", "-c", 'sleep 7 && exec "$@"', "sh", *FAKE_HARNESS)
    async with _launcher(tmp_path, slow, patience_s=5) as launcher:
        handle = await launcher.launch(_job("accepted"))
        assert JobState.FINISHED == (await _outcome(launcher, handle)).state


async def _begun(folder: Path) -> None:
    """Until the fake host has a job."""
    log = folder / "jobs" / "judged.log"
    await until(lambda: log.exists() and log.read_text().endswith("\n"))


async def _be_overdue(folder: Path, handle: str) -> None:
    """As if it had been launched long ago."""
    await _begun(folder)
    os.utime(Path(handle) / "jobspec.json", (0, 0))


async def test_a_job_of_another_process_is_lost_when_the_time_is_up(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher, _launcher(tmp_path) as another:
        handle = await launcher.launch(_job("sleep 600 accepted"))
        await _be_overdue(tmp_path, handle)
        assert await _events(another, handle) == []
        assert (await _poll(another, handle)).state == JobState.LOST


async def test_an_event_that_is_too_long_is_left_out_and_the_host_lives(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        handle = await launcher.launch(_job(f"shout {5 << 20} accepted"))
        kinds = [event.kind for event in await _events(launcher, handle)]
        outcome = await _poll(launcher, handle)
    assert kinds == [EventKind.STARTED, EventKind.PHASE_STARTED]
    assert outcome.state == JobState.FINISHED


async def test_a_cancelled_job_ends_at_once(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        handle = await launcher.launch(_job("sleep 600 accepted"))
        await _begun(tmp_path)
        await launcher.cancel(handle)
        async with asyncio.timeout(60):
            await _events(launcher, handle)
        assert (await _poll(launcher, handle)).left is None


async def test_nothing_is_left_of_a_forgotten_job(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        handle = await launcher.launch(_job("accepted"))
        await _events(launcher, handle)
        await launcher.forget(handle)
        await launcher.forget(handle)
        assert (await _poll(launcher, handle)).state == JobState.LOST


async def test_a_jobs_folder_is_its_owners_alone(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        handle = await launcher.launch(_job("accepted"))
        mode = os.stat(handle).st_mode & 0o777  # noqa: PTH116  # quick, and not a Path here
    assert mode == 0o700


async def test_a_device_of_another_machine_is_refused(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        with pytest.raises(PlatformError):
            await launcher.launch(_job("accepted", device="H100"))


async def test_a_host_that_cannot_start_says_so(tmp_path: Path) -> None:
    launcher = LocalLauncher(LocalSettings(tmp_path / "jobs", {"CPU": ("/nowhere/host",)}))
    found = await launcher.availability("CPU")
    await launcher.close()
    assert (found.available, "/nowhere/host" in found.note) == (False, True)


async def test_closing_ends_the_hosts(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        handle = await launcher.launch(_job("sleep 60 accepted"))
    assert (await _poll(launcher, handle)).state == JobState.LOST


async def test_closing_lets_go_of_a_replaced_host_whose_output_a_stranger_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that has left its group isn't killed with it, and isn't waited for."""
    monkeypatch.setattr(host_process, "_STOP_S", 600.0)
    monkeypatch.setattr(host_process, "_KILLED_S", 600.0)
    stranger, named = tmp_path / "stranger", tmp_path / "empty"
    named.touch()
    command = f"setsid sh -c 'echo $$ > {stranger}; exec sleep 1000' & exec cat {named} -"
    async with _launcher(tmp_path, ("/bin/sh", "-c", command)) as launcher:
        await until(stranger.exists)
        await until(lambda: hosts_of(named))
        (replaced,) = hosts_of(named)
        os.kill(replaced, signal.SIGKILL)
        stranger.rename(tmp_path / "first")
        await until_told(lambda: _is_served_by_another(launcher, named, replaced))
        await until(stranger.exists)
    locks = list((tmp_path / "jobs" / "hosts").glob("*.lock"))
    for name in ("first", "stranger"):
        os.kill(int((tmp_path / name).read_text()), signal.SIGKILL)
    assert ([], []) == (hosts_of(named), locks)


def hosts_of(named: Path) -> list[int]:
    """Those that read this file first."""
    return hosts_that_live(b"cat\0" + bytes(named))


async def _is_served_by_another(launcher: LocalLauncher, named: Path, than: int) -> bool:
    available = (await launcher.availability("CPU")).available
    return available and hosts_of(named) not in ([], [than])


# Each run has test_a_host_that_stays_stopped_is_killed_before_the_time_is_up
@pytest.mark.exhaustive
async def test_a_folder_is_taken_away_under_a_host_that_writes_there(tmp_path: Path) -> None:
    stop = threading.Event()

    def write(folder: Path) -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError):
                (folder / f".{time.monotonic_ns()}.partial").write_text("{}")

    async with _launcher(tmp_path) as launcher:
        for number in range(20):
            handle = await launcher.launch(_job("accepted", f"{number}.1.x"))
            stop.clear()
            writer = threading.Thread(target=write, args=(Path(handle),))
            writer.start()
            await asyncio.sleep(0.01)
            await launcher.forget(handle)
            stop.set()
            writer.join()
        left = {entry.name for entry in (tmp_path / "jobs").iterdir()} - {"hosts", "judged.log"}
    assert set() == left


async def test_a_launch_that_is_cancelled_leaves_no_folder(tmp_path: Path) -> None:
    async with _launcher(tmp_path) as launcher:
        for number in range(20):
            launch = asyncio.ensure_future(launcher.launch(_job("accepted", f"{number}.1.x")))
            await asyncio.sleep(number * 0.0002)
            launch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await launcher.forget(await launch)
        left = {entry.name for entry in (tmp_path / "jobs").iterdir()} - {"hosts", "judged.log"}
    assert set() == left


async def test_a_host_is_told_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADMIN_TOKEN", "secret")
    monkeypatch.setenv("LANG", "C.UTF-8")
    told = tmp_path / "environment"
    program = f"import os; open({str(told)!r}, 'w').write(' '.join(os.environ)); input()"
    async with _launcher(tmp_path, (sys.executable, "-c", program)):
        await until(lambda: told.exists() and told.read_text())
    names = told.read_text().split()
    assert ("LANG" in names, "ADMIN_TOKEN" in names) == (True, False)


async def _running(handle: str) -> None:
    events = Path(handle) / "events.jsonl"
    await until(lambda: events.exists() and "phase_started" in events.read_text(), 100)


def _with_a_secret(folder: Path) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if MARK.encode() in path.read_bytes()]


@pytest.mark.exhaustive
async def test_an_author_finds_no_secret_here(tmp_path: Path) -> None:
    source = searching_submission([str(tmp_path), "/dev/shm", "/tmp"], [MARK])
    async with _launcher(tmp_path, REAL_HOST) as launcher:
        job = bare_job(source, secret=True)
        handle = await launcher.launch(job)
        await _events(launcher, handle)
        result = result_in(await _outcome(launcher, handle), job)
    assert result.verdict == Verdict.ACCEPTED, result.failure


async def test_no_secret_lies_here_while_the_author_runs(tmp_path: Path) -> None:
    source = "import time\ndef custom_kernel(data):\n    time.sleep(20)\n"
    async with _launcher(tmp_path, REAL_HOST) as launcher:
        handle = await launcher.launch(bare_job(source, secret=True))
        await _running(handle)
        found = _with_a_secret(tmp_path)
        again = await launcher.launch(bare_job(source, secret=True))
        await launcher.cancel(handle)
    assert ([], handle) == (found, again)
