"""Schedulers and nodes that say what they should not."""

import asyncio
import resource
from pathlib import Path

import pytest

from kernelbot.domain.errors import DeviceRefused, JobRefused, NoRoom, SchedulerError
from kernelbot.launchers.base import Availability, JobState, Traits
from kernelbot.launchers.patience import Patience
from kernelbot.launchers.slurm import SlurmDevice, SlurmLauncher
from kernelbot.launchers.slurm.nodes import availability, read_nodes
from kernelbot.launchers.slurm.states import read_job, read_number, read_queue, refusal
from kernelbot.protocol import Fault
from kernelbot.protocol.result_size import most_bytes
from tests.launchers.plans import DEVICE
from tests.launchers.slurm.test_cluster import launching, over, poll
from tests.launchers.stages import a_job
from tests.support.exhaustive import cases
from tests.support.results import why_none
from tests.support.waiting import until, until_told

HTML = "<html><body>502 Bad Gateway</body></html>"
UNKNOWN = "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"


@pytest.mark.parametrize("text", ["", HTML, "12 13", "-1", "1.5", "12;x y", "99999999999", "\x00"])
def test_a_number_is_a_number(text: str) -> None:
    with pytest.raises(SchedulerError, match="instead of a job's number"):
        read_number(text)


def test_a_number_may_name_its_cluster() -> None:
    assert (read_number("12\n"), read_number("13;far")) == ("12", "13")


@pytest.mark.parametrize("text", [HTML, "slurm_load_jobs error", "x|RUNNING|None|name", "1|2|3"])
def test_a_queue_is_a_queue(text: str) -> None:
    with pytest.raises(SchedulerError, match="instead of a job"):
        read_queue(f"1|RUNNING|None|kernelbot-1\n{text}\n")


def test_names_of_other_jobs_may_hold_anything() -> None:
    jobs = read_queue("1|RUNNING|None|a|b'; echo x\n2_3|PENDING|None|part\n4+1|PENDING|None|het\n")
    assert [(job.number, job.name) for job in jobs.values()] == [("1", "a|b'; echo x")]


@pytest.mark.parametrize(
    ("code", "text", "errors"),
    [(0, "", ""), (0, HTML, ""), (1, "", "timed out"), (0, "JobId=1", "")],
)
def test_a_job_is_a_job(code: int, text: str, errors: str) -> None:
    with pytest.raises(SchedulerError, match="instead of a job"):
        read_job(code, text, errors)


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("PartitionTimeLimit", "PartitionTimeLimit"),
        ("ReqNodeNotAvail, Reserved for maintenance", "ReqNodeNotAvail, Reserved for maintenance"),
        ("None", ""),
        ("Priority", "others are before it, or no node is free"),
        ("Resources", "others are before it, or no node is free"),
        ("x" * 9999, "x" * 200),
    ],
)
def test_why_a_job_waits_is_said_as_slurm_says_it(reason: str, why: str) -> None:
    assert why == read_queue(f"1|PENDING|{reason}|kernelbot-1\n")["1"].why_it_waits


FAILED = "sbatch: error: Batch job submission failed: "


@pytest.mark.parametrize(
    "sentence",
    [
        "Requested time limit is invalid (missing or exceeds some limit)",
        "Pathname of a file, directory or other parameter too long",
    ],
)
def test_what_a_job_itself_asks_for_is_refused_for_good(sentence: str) -> None:
    refused = refusal(FAILED + sentence)
    assert (JobRefused, f"Slurm refused the job: {sentence}") == (type(refused), str(refused))


@pytest.mark.parametrize(
    "sentence",
    [
        "Invalid account or account/partition combination specified",
        "Invalid qos specification",
        "Requested reservation is invalid",
        "Access denied to requested reservation",
        "Invalid partition name specified",
        "User's group not permitted to use this partition",
        "Access/permission denied",
        "Invalid authentication credential",
        "Requested node configuration is not available",
        "Invalid generic resource (gres) specification",
        "More processors requested than permitted",
    ],
)
def test_what_all_jobs_of_a_device_meet_is_the_devices(sentence: str) -> None:
    refused = refusal(FAILED + sentence)
    assert (DeviceRefused, f"Slurm refused the job: {sentence}") == (type(refused), str(refused))


POLICY = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"


@pytest.mark.parametrize(
    ("errors", "kind"),
    [
        (FAILED + POLICY, NoRoom),
        (f"sbatch: error: QOSMaxSubmitJobPerUserLimit\n{FAILED}{POLICY}", NoRoom),
        (f"sbatch: error: AssocGrpSubmitJobsLimit\n{FAILED}{POLICY}", NoRoom),
        (FAILED + "Resource temporarily unavailable", NoRoom),
        ("sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying", NoRoom),
        (f"sbatch: error: QOSMaxGRESPerJob\n{FAILED}{POLICY}", DeviceRefused),
        (f"sbatch: error: QOSMaxWallDurationPerJobLimit\n{FAILED}{POLICY}", JobRefused),
    ],
)
def test_a_limit_of_how_many_jobs_there_may_be_is_no_refusal(
    errors: str, kind: type[SchedulerError]
) -> None:
    assert kind is type(refusal(errors))


@pytest.mark.parametrize(
    ("errors", "sentence"),
    [
        ("Permission denied (publickey).", "Permission denied (publickey)."),
        ("sbatch: error: invalid partition specified: gpu", "invalid partition specified: gpu"),
        ("sbatch: unrecognized option '--x'", "unrecognized option '--x'"),
        ("", "no reason"),
        (
            FAILED + "Socket timed out on send/recv operation",
            "Socket timed out on send/recv operation",
        ),
        (
            FAILED + "Unable to contact slurm controller (connect failure)",
            "Unable to contact slurm controller (connect failure)",
        ),
    ],
)
def test_what_isnt_of_slurms_controller_may_go_well_later(errors: str, sentence: str) -> None:
    refused = refusal(errors)
    assert (SchedulerError, f"Slurm refused the job: {sentence}") == (type(refused), str(refused))


@pytest.mark.parametrize("text", [HTML, "gpu", "gpu|up|IDLE|x"])
def test_nodes_are_nodes(text: str) -> None:
    with pytest.raises(SchedulerError, match="instead of nodes"):
        read_nodes(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("gpu*|up|idle|gpu:h100:2(S:0)|none", Availability(True)),
        ("gpu*|up|mixed-|gpu:a100:4,gpu:h100:2|none", Availability(True)),
        ("gpu*|up|idle~|gpu:h100:2|none", Availability(True)),
        ("gpu*|up|mixed+planned|gpu:h100:2|none", Availability(True)),
        ("gpu*|up|BLOCKED|gpu:h100:2|none", Availability(True)),
        *(
            (f"gpu*|up|{state}|gpu:h100:2|none", Availability(False, f"nodes are {said}"))
            for state, said in (
                ("reserved", "reserved"),
                ("idle+reserved$", "idle+reserved"),
                ("idle+drain", "idle+drain"),
            )
        ),
        ("gpu*|up|idle*|gpu:h100:2|none", Availability(False, "nodes are idle, and do not answer")),
        ("gpu*|up|drained|gpu:h100:2|fans|s", Availability(False, "nodes are drained (fans|s)")),
        ("gpu*|down|idle|gpu:h100:2|none", Availability(False, "partition gpu is not up")),
        ("gpu|up|idle|gpu:h100:2|none", Availability(False, "Slurm has no partition by default")),
        ("gpu*|up|idle|gpu:h1000:2|none", Availability(False, "no node of Slurm's has gpu:h100:1")),
        ("", Availability(False, "Slurm has no partition by default")),
    ],
)
def test_nodes_say_whether_a_device_is_available(text: str, found: Availability) -> None:
    assert availability(read_nodes(text), SlurmDevice("gpu:h100:1")) == found


@pytest.mark.parametrize(
    "device",
    [
        SlurmDevice("gpu:h100:1", reservation="autumn"),
        SlurmDevice("gpu:h100:1", options=("--reservation=autumn",)),
    ],
)
@pytest.mark.parametrize("state", ["reserved", "RESERVED", "idle+reserved", "mixed+reserved-"])
def test_nodes_of_a_reservation_are_usable_by_those_who_name_it(
    device: SlurmDevice, state: str
) -> None:
    text = f"gpu*|up|{state}|gpu:h100:2|none"
    assert availability(read_nodes(text), device) == Availability(True)


@pytest.mark.parametrize(
    ("device", "available"),
    [
        (SlurmDevice("gpu:h100:1", partition="long,gpu"), True),
        (SlurmDevice("gpu:h100:1", partition="long,short"), False),
        (SlurmDevice("gpu:h100:1,nvme:1"), True),
        (SlurmDevice("gpu:h100:1,tmpdisk:1"), False),
    ],
)
def test_a_device_may_name_several_partitions_and_resources(
    device: SlurmDevice, available: bool
) -> None:
    text = "gpu*|up|idle|gpu:h100:2(S:0,2),nvme:4|none\nother|up|idle|gpu:h100:2|none"
    assert available == availability(read_nodes(text), device).available


@pytest.mark.parametrize("state", ["EXPEDITING", "RUNNING+EXPEDITING", "STATE_9"])
def test_a_job_of_a_state_that_nobody_knows_goes_on(state: str) -> None:
    (job,) = read_queue(f"1|{state}|None|kernelbot-1\n").values()
    assert job.active is JobState.RUNNING


def between(folder: Path, command: str, lines: str) -> tuple[str, ...]:
    """A prefix by which one command does something else."""
    program = folder / "between"
    program.write_text(
        '#!/bin/sh\nname=$1\n[ "$name" = env ] && name=$3\n'
        f'case $name in {command}) {lines};; *) exec "$@";; esac\n'
    )
    program.chmod(0o755)
    return (str(program),)


async def broken(launcher: SlurmLauncher, folder: Path, command: str, lines: str) -> None:
    """From now on."""
    launcher._commands._prefix = between(folder, command, lines)


@pytest.mark.parametrize("lines", cases([f"echo '{HTML}'", "exit 1", "yes"], always=["exit 1"]))
async def test_a_queue_that_cant_be_read_loses_no_job(tmp_path: Path, lines: str) -> None:
    may_end = tmp_path / "may-end"
    async with launching(tmp_path) as launcher:
        handle = await launcher.launch(a_job(f"until {may_end} accepted"))
        await broken(launcher, tmp_path, "squeue", lines)
        with pytest.raises(SchedulerError, match="squeue"):
            await launcher.poll([handle])
        await broken(launcher, tmp_path, "nothing", "")
        may_end.touch()
        assert (await over(launcher, handle)).state == JobState.FINISHED


@pytest.mark.exhaustive  # each run has test_a_queue_that_cant_be_read_loses_no_job
@pytest.mark.parametrize(
    "changes", cases([{}, {"warm_idle_s": 600.0}], always=[{}]), ids=["plain", "warm"]
)
async def test_results_come_while_the_controller_is_away(
    tmp_path: Path, changes: dict[str, float]
) -> None:
    may_end = tmp_path / "may-end"
    async with launching(tmp_path, **changes) as launcher:
        ended, other = a_job("accepted"), a_job(f"until {may_end} accepted")
        handles = [await launcher.launch(job) for job in (ended, other)]
        await until((tmp_path / "work" / "done" / ended.job_id).exists)
        await broken(launcher, tmp_path, "squeue|scontrol", "exit 1")
        found = await launcher.poll(handles)
        states = [found[handle].state for handle in handles]
        with pytest.raises(SchedulerError, match="squeue"):
            await launcher.poll(handles[1:])
        await broken(launcher, tmp_path, "nothing", "")
        may_end.touch()
    assert [JobState.FINISHED, JobState.WAITING] == states


@pytest.mark.exhaustive  # each run has test_a_queue_that_cant_be_read_loses_no_job
async def test_what_waits_goes_on_waiting_while_the_controller_is_away(tmp_path: Path) -> None:
    """It doesn't begin, as whoever follows it would note once and for all."""
    may_end = tmp_path / "may-end"
    async with launching(tmp_path) as launcher:
        ended = a_job("accepted")
        handles = [await launcher.launch(ended)]
        await until((tmp_path / "work" / "done" / ended.job_id).exists)
        jobs = [a_job(f"until {may_end} accepted", "H100") for _ in range(3)]
        handles += [await launcher.launch(job) for job in jobs]
        found = await launcher.poll(handles)
        await broken(launcher, tmp_path, "squeue|scontrol", "exit 1")
        away = await launcher.poll(handles)
        await broken(launcher, tmp_path, "nothing", "")
        may_end.touch()
        for handle in handles[1:]:
            await over(launcher, handle)
    waiting = {handle for handle in handles if found[handle].state is JobState.WAITING}
    assert waiting
    assert {handle: found[handle] for handle in waiting} == {one: away[one] for one in waiting}


@pytest.mark.exhaustive  # each run has test_a_queue_that_cant_be_read_loses_no_job
async def test_an_empty_queue_loses_no_job(tmp_path: Path) -> None:
    may_end = tmp_path / "may-end"
    async with launching(tmp_path, settle_s=0) as launcher:
        handle = await launcher.launch(a_job(f"until {may_end} accepted"))
        await broken(launcher, tmp_path, "squeue", "exit 0")
        outcome = await poll(launcher, handle)
        assert not outcome.state.is_over
        may_end.touch()
        assert (await over(launcher, handle)).state == JobState.FINISHED


@pytest.mark.exhaustive  # each run has test_a_job_that_cant_be_shown_goes_on_as_before
async def test_a_job_that_slurm_didnt_know_loses_no_time_for_its_result(tmp_path: Path) -> None:
    job, now = a_job("accepted"), 0.0
    async with launching(tmp_path) as launcher:
        launcher._patience = Patience(lambda: now)
        handle = await launcher.launch(job)
        await broken(launcher, tmp_path, "squeue) exit 0;; ls) exit 0;; scontrol", UNKNOWN)
        found = [await poll(launcher, handle)]
        await broken(launcher, tmp_path, "nothing", "")

        async def has_ended() -> bool:
            shown = await launcher._show(handle.partition(":")[0])
            return shown is not None and shown.active is None

        await until_told(has_ended)
        now = 1000.0
        await broken(launcher, tmp_path, "ls) exit 0;; head", "exit 1")  # not there yet
        found.append(await poll(launcher, handle))
        await broken(launcher, tmp_path, "nothing", "")
        found.append(await over(launcher, handle))
    states = [JobState.WAITING, JobState.RUNNING, JobState.FINISHED]
    assert [outcome.state for outcome in found] == states


@pytest.mark.parametrize(
    ("options", "state"), [(("--hold",), JobState.WAITING), ((), JobState.RUNNING)]
)
async def test_a_job_that_cant_be_shown_goes_on_as_before(
    tmp_path: Path, options: tuple[str, ...], state: JobState
) -> None:
    devices = {DEVICE: SlurmDevice(None, options=options)}
    async with launching(tmp_path, settle_s=0, devices=devices) as launcher:
        handle = await launcher.launch(a_job("sleep 60 accepted"))

        async def is_so() -> bool:
            return (await poll(launcher, handle)).state is state

        await until_told(is_so)
        await broken(launcher, tmp_path, "squeue) exit 0;; scontrol", f"echo '{HTML}'")
        assert await is_so()


@pytest.mark.parametrize("lines", [f"echo '{HTML}'", "exit 0", "echo 12 34"])
async def test_a_launch_answered_by_nonsense_is_the_schedulers_failure(
    tmp_path: Path, lines: str
) -> None:
    async with launching(tmp_path) as launcher:
        await broken(launcher, tmp_path, "sbatch", lines)
        with pytest.raises(SchedulerError, match="instead of a job's number"):
            await launcher.launch(a_job("accepted"))


@pytest.mark.exhaustive  # each run has test_a_queue_that_cant_be_read_loses_no_job
async def test_a_launch_whose_answer_was_lost_is_found_again(tmp_path: Path) -> None:
    job = a_job("sleep 1 accepted")
    async with launching(tmp_path) as launcher:
        await broken(launcher, tmp_path, "sbatch", '"$@" >/dev/null; exit 1')
        with pytest.raises(SchedulerError):
            await launcher.launch(job)
        handle = await launcher.launch(job)
        outcome = await over(launcher, handle)
    log = tmp_path / "work" / "jobs" / "judged.log"
    assert (outcome.state, log.read_text().split()) == (JobState.FINISHED, [job.job_id])


async def test_a_command_that_hangs_is_ended(tmp_path: Path) -> None:
    async with launching(tmp_path) as launcher:
        launcher._commands._timeout_s = 0.5
        await broken(launcher, tmp_path, "sinfo", "sleep 600")
        async with asyncio.timeout(60):
            with pytest.raises(SchedulerError, match="didn't answer within"):
                await launcher.availability("CPU")


async def test_a_cluster_that_isnt_there_is_told(tmp_path: Path) -> None:
    async with launching(tmp_path) as launcher:
        launcher._commands._prefix = ("/nowhere/ssh", "login01")
        with pytest.raises(SchedulerError, match="can't be started"):
            await launcher.availability("CPU")


CONNECTION = "echo 'kex_exchange_identification: Connection closed' >&2; exit 255"
STALE = "echo \"head: error reading 'result.json': Stale file handle\" >&2; exit 1"


def once(folder: Path, lines: str) -> str:
    """Lines of a prefix that does something else the first time alone."""
    mark = folder / "once"
    return f'if mkdir {mark} 2>/dev/null; then {lines}; fi; exec "$@"'


@pytest.mark.exhaustive  # each run has test_a_queue_that_cant_be_read_loses_no_job
@pytest.mark.parametrize("lines", [CONNECTION, STALE])
async def test_a_result_that_cant_be_read_just_now_is_read_later(
    tmp_path: Path, lines: str
) -> None:
    async with launching(tmp_path) as launcher:
        handle = await launcher.launch(a_job("accepted"))
        await broken(launcher, tmp_path, "head", once(tmp_path, lines))
        assert (await over(launcher, handle)).state == JobState.FINISHED
    assert (tmp_path / "once").exists()


@pytest.mark.exhaustive  # each run has test_a_cluster_that_isnt_there_is_told
async def test_the_end_of_a_job_that_cant_be_read_just_now_is_read_later(tmp_path: Path) -> None:
    async with launching(tmp_path) as launcher:
        handle = await launcher.launch(a_job("die"))
        await broken(launcher, tmp_path, "tail", once(tmp_path, CONNECTION))
        outcome = await over(launcher, handle)
    assert "the harness ended with exit code 9 and no result" in outcome.reason
    assert (tmp_path / "once").exists()


@pytest.mark.exhaustive  # each run has test_a_cluster_that_isnt_there_is_told
async def test_a_result_that_can_never_be_read_is_lost_by_the_schedulers_fault(
    tmp_path: Path,
) -> None:
    traits = Traits(shortest_poll_s=0.1, longest_poll_s=0.5, check_s=1, silence_s=1)
    async with launching(tmp_path, traits=traits) as launcher:
        handle = await launcher.launch(a_job("accepted"))
        await broken(launcher, tmp_path, "head", STALE)
        outcome = await over(launcher, handle)
    assert (JobState.LOST, Fault.SCHEDULER) == (outcome.state, outcome.fault)
    assert "Stale file handle" in outcome.reason


@pytest.mark.exhaustive  # each run has test_a_cluster_that_isnt_there_is_told
async def test_a_result_that_shows_late_is_waited_for(tmp_path: Path) -> None:
    async with launching(tmp_path, settle_s=60) as launcher:
        job = a_job("accepted")
        handle = await launcher.launch(job)
        result = tmp_path / "work" / "jobs" / job.job_id / "result.json"
        await until((tmp_path / "work" / "done" / job.job_id).exists)
        result.rename(tmp_path / "unseen")
        assert not (await poll(launcher, handle)).state.is_over
        (tmp_path / "unseen").rename(result)
        assert (await over(launcher, handle)).state == JobState.FINISHED


async def ended(folder: Path, text: str) -> str:
    """Why a job has no result whose judge does what the text says."""
    job = a_job(text)
    async with launching(folder) as launcher:
        handle = await launcher.launch(job)
        await over(launcher, handle)
        found = await launcher.poll([handle], {handle: most_bytes(job)})
    return why_none(found[handle], job)


@pytest.mark.exhaustive  # each run has test_a_cluster_that_isnt_there_is_told
async def test_a_result_of_another_job_is_none(tmp_path: Path) -> None:
    assert "of another job" in await ended(tmp_path, "another")


@pytest.mark.exhaustive  # each run has test_a_cluster_that_isnt_there_is_told
async def test_a_result_that_contradicts_itself_is_none(tmp_path: Path) -> None:
    assert "verdict accepted isn't that of its phases" in await ended(tmp_path, "lie")


@pytest.mark.exhaustive  # each run has test_a_queue_that_cant_be_read_loses_no_job
async def test_a_result_of_another_version_is_none(tmp_path: Path) -> None:
    assert "update this side" in await ended(tmp_path, "newer")


@pytest.mark.exhaustive  # each run has test_a_queue_that_cant_be_read_loses_no_job
async def test_a_job_that_ends_without_a_result_is_lost(tmp_path: Path) -> None:
    assert "no result" in await ended(tmp_path, "silent")


@pytest.mark.exhaustive
async def test_a_result_of_2_gb_is_never_read_whole(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    why = await ended(tmp_path, "huge")
    grown_bytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert "more than 26 MiB" in why
    assert grown_bytes < 600 << 20
