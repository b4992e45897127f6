"""Whatever becomes of its hosts, and however late the event loop notices: the local launcher gives
a job to a host that serves."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from hypothesis.strategies import integers

from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.local import LocalLauncher, LocalSettings
from kernelbot.protocol import DeviceSpec, JobSpec, Mode, SourceFile, Vendor, to_wire
from tests.fakes.host import result_of
from tests.support.exhaustive import examples
from tests.support.problems import sort_problem
from tests.support.workers import hosts_that_live

_HOST = """
while read -r line; do
    case $line in
    *ping*) echo '{"pong": "alive"}' ;;
    *held*) ;;
    *run*)
        case $line in *leaves*) sleep 1000 & ;; esac
        job=${line#*'"run": "'}
        job=${job%'"'*}
        cp "$1" "$job/draft" && mv "$job/draft" "$job/result.json"
        echo "{\\"job\\": \\"$job\\", \\"finished\\": true}"
        ;;
    esac
done
"""
"""A shell starts in a few milliseconds. It has the result of each job at hand, but for those that
are called `held`: it never gets done with them. What it starts for those that are called `leaves`
outlives it, and holds its lock and its output."""


def _job(job_id: str) -> JobSpec:
    source = SourceFile("fast.py", "# fake: accepted\n")
    device = DeviceSpec("CPU", Vendor.CPU)
    return JobSpec(job_id, sort_problem().spec, source, Mode.TEST, device)


class Hosts(RuleBasedStateMachine):
    """The event loop stands still between two rules, so that nothing is noticed by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="kernelbot-test-"))
        host, result = self.folder / "host.sh", self.folder / "result"
        host.write_text(_HOST)
        result.write_text(json.dumps(to_wire(result_of(_job("any"), ["accepted"]))))
        self.command = ("/bin/sh", str(host), str(result))
        self.loop = asyncio.Runner()
        self.launcher = LocalLauncher(LocalSettings(self.folder / "jobs", {"CPU": self.command}))
        self.jobs = 0
        self.held: list[str] = []
        """Jobs whose hosts never get done with them, and may have ended."""
        self.opens()

    def teardown(self) -> None:
        self.loop.run(self.launcher.close())
        self.loop.close()
        shutil.rmtree(self.folder)

    @rule()
    def opens(self) -> None:
        """Again: nothing."""
        self.loop.run(self.launcher.start())

    @rule()
    def closes(self) -> None:
        self.loop.run(self.launcher.close())
        self.opens()

    @rule()
    def a_job_is_judged(self) -> None:
        handle = self._launched("quick")
        assert JobState.FINISHED == self.loop.run(self._outcome(handle)).state

    @rule()
    def a_job_is_held(self) -> None:
        self.held.append(self._launched("held"))

    @rule()
    def a_job_leaves_a_process(self) -> None:
        assert JobState.FINISHED == self.loop.run(self._outcome(self._launched("leaves"))).state

    @precondition(lambda self: self.held)
    @rule()
    def a_job_is_overdue(self) -> None:
        """Its host is ended."""
        handle = self.held.pop()
        os.utime(Path(handle) / "jobspec.json", (0, 0))
        assert JobState.LOST == self.loop.run(self._outcome(handle)).state

    @rule()
    def hosts_die(self) -> None:
        for pid in hosts_that_live(self.command[1].encode()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):  # a thread of the event loop's was first
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

    @rule(turns=integers(1, 5))
    def the_loop_turns(self, turns: int) -> None:
        async def turn() -> None:
            for _ in range(turns):
                await asyncio.sleep(0)

        self.loop.run(turn())

    @rule()
    def the_device_is_checked(self) -> None:
        assert self.loop.run(self.launcher.availability("CPU")).available

    def _launched(self, name: str) -> str:
        self.jobs += 1
        return self.loop.run(self.launcher.launch(_job(f"{name}.{self.jobs}")))

    async def _outcome(self, handle: str) -> Outcome:
        async with asyncio.timeout(60):
            while True:
                outcome = (await self.launcher.poll([handle]))[handle]
                if outcome.state.is_over:
                    return outcome
                await asyncio.sleep(0)


TestHosts = Hosts.TestCase
TestHosts.settings = settings(max_examples=examples(40), stateful_step_count=12)


@pytest.mark.parametrize(
    "steps",
    [
        ("hosts_die",),
        ("a_job_is_held", "a_job_is_overdue"),
        ("a_job_leaves_a_process", "hosts_die"),
    ],
)
def test_the_next_job_in_the_same_moment(steps: tuple[str, ...]) -> None:
    """The shortest ways to a host that has ended without the event loop knowing of it."""
    hosts = Hosts()
    try:
        for step in steps:
            getattr(hosts, step)()
        hosts.a_job_is_judged()
    finally:
        hosts.teardown()
