"""A kernel looks around in every run there is and finds the same: it can't tell which one it is.

What it sees is compared without what chance deals (mount, device and inode numbers, times): that
these carry no order is left to `tests/harness/inside/test_prefork.py` and the judge's dealing. How
many signals init's user has queued is what all forkers of the machine were just doing.
"""

import json
from dataclasses import replace

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.protocol import Limits, Mode, ProgressEvent, SourceFile
from tests.harness.jobs import SORT, a_job, a_problem

LIMITS = Limits(memory_bytes=512 << 20, processes=64, file_size_bytes=32 << 20)
LOOK = """
import json, os, resource, signal, sys, zlib
from pathlib import Path
import numpy as np

def look():
    def read(name, *unlike):
        lines = Path("/proc", name).read_text().splitlines()
        return [line for line in lines if not line.startswith(unlike)]
    used = ("Vm", "Rss", "voluntary", "nonvoluntary", "State", "Cpus_allowed_list", "Threads")
    counted = {
        "environment": dict(os.environ),
        "arguments": [sys.argv, sys.orig_argv, read("self/cmdline"), read("self/comm")],
        "groups": [read(f"{who}/cgroup") for who in ("self", "1", "2")],
        "mounts": [line.split()[3:] for line in read("self/mountinfo")],
        "ids": [os.getpid(), os.getppid(), os.getsid(0), os.getpgid(0), os.getresuid()],
        "name": list(os.uname()),
        "limits": [resource.getrlimit(which) for which in range(16)],
        "status": [read("self/status", *used), read("1/status", *used, "SigQ")],
        "scheduling": [os.nice(0), sorted(os.sched_getaffinity(0)), read("self/oom_score_adj")],
        "processes": sorted(os.listdir("/proc")),
        "descriptors": sorted(os.listdir("/proc/self/fd")),
        "files": [(str(path), path.stat().st_size) for root in ("/box", "/tmp", "/dev/shm")
                  for path in sorted(Path(root).rglob("*"))],
        "rooms": [tuple(os.statvfs(root))[:9] for root in ("/box", "/tmp", "/dev/shm")],
        "modules": sorted(sys.modules),
        "signals": [str(signal.getsignal(which)) for which in (2, 15, 17)],
    }
    return {name: zlib.crc32(json.dumps(seen).encode()) for name, seen in counted.items()}

def say(seen):
    print("SEEN", json.dumps(seen), flush=True)

say(look())
calls = 0
def custom_kernel(data):
    global calls
    calls += 1
    if calls == 1:
        say(look())
    ANSWER
"""
PROBE = LOOK.replace("ANSWER", "return np.sort(data)")
TELLS = LOOK.replace(
    "ANSWER",
    """if data.size >= 2000:
        raise ValueError("SEEN " + json.dumps(look()) + " END")
    return np.sort(data)""",
)
"""What an opponent prints is for nobody to read, but what it fails with is."""


def quiet(_event: ProgressEvent) -> None:
    return


def seen(text: str) -> list[dict[str, int]]:
    """What was seen at each load and first call, in their order."""
    found = [each for each in text.split("SEEN ")[1:] if each.startswith("{")]
    decode = json.JSONDecoder().raw_decode
    return [decode(each)[0] for each in found]


def differing(looks: list[dict[str, int]]) -> set[str]:
    """The names of what wasn't the same in all of them."""
    return {
        name for look in looks for name, sum_of_it in look.items() if sum_of_it != looks[0][name]
    }


@pytest.mark.exhaustive
def test_a_kernel_sees_the_same_in_every_run(host: Host) -> None:
    jobs = [
        a_job(PROBE, mode=mode, secret=secret, problem=a_problem(), limits=LIMITS)
        for mode in (Mode.TEST, Mode.BENCHMARK, Mode.LEADERBOARD)
        for secret in (False, True)
    ]
    jobs.append(replace(jobs[-1], opponent=SourceFile("b.py", SORT)))
    runs = [seen(host.judge(job, quiet).stdout) for job in jobs]
    assert [2, 2, 4, 4, 4, 4, 4] == [len(run) for run in runs]
    at_load = [look for run in runs for look in run[::2]]
    at_call = [look for run in runs for look in run[1::2]]
    assert (set(), set()) == (differing(at_load), differing(at_call))


def test_both_sides_of_a_duel_see_the_same(host: Host) -> None:
    job = a_job(TELLS, mode=Mode.LEADERBOARD, secret=True, limits=LIMITS)
    mine = host.judge(replace(job, opponent=SourceFile("b.py", SORT)), quiet)
    sort = replace(job, submission=SourceFile(job.submission.name, SORT))
    theirs = host.judge(replace(sort, opponent=SourceFile("b.py", TELLS)), quiet)
    assert (False, True) == (mine.opponent_failed, theirs.opponent_failed)
    said = [seen(result.failure.message)[-1] for result in (mine, theirs) if result.failure]
    assert set() == differing(said)


@pytest.mark.exhaustive
def test_all_processes_that_are_timed_see_the_same(host: Host) -> None:
    """Chance deals which one is called first, and so fails."""
    job = a_job(TELLS, mode=Mode.LEADERBOARD, secret=True, limits=LIMITS)
    failures = [host.judge(job, quiet).failure for _ in range(3)]
    said = [seen(failure.message)[-1] for failure in failures if failure]
    assert 3 == len(said)
    assert set() == differing(said)
