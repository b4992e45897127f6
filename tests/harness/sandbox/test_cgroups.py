"""What control groups count, where this machine lets us make any."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kernelbot.harness.sandbox import cgroups, group_members
from kernelbot.harness.sandbox.cgroups import RunnerGroup, find_v2_parent, sibling_unit
from kernelbot.harness.sandbox.runner_tree import is_alive

CHILD_S = 0.05
UNMISSED = f"""
import os, signal, sys, time
sys.stdin.readline()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    while time.process_time() < {CHILD_S}:
        pass
    os._exit(0)
try:
    os.wait()
except ChildProcessError:
    print(int(1e9 * sum(os.times()[2:4])), flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(
    "cpuacct" not in cgroups.detect().parents, reason="no writable cgroup that counts time here"
)
def test_time_of_a_child_that_nobody_waited_for_is_counted() -> None:
    group = RunnerGroup()
    with subprocess.Popen(
        [sys.executable, "-c", UNMISSED], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        group.adopt(process.pid)
        before_ns = group.cpu_time_ns()
        process.stdin.write(b"go\n")
        process.stdin.flush()
        known_to_its_parent_ns = int(process.stdout.readline())
        after_ns = group.cpu_time_ns()
        process.stdin.close()
    group.remove()
    assert before_ns is not None
    assert after_ns is not None
    assert (0, True) == (known_to_its_parent_ns, after_ns - before_ns >= CHILD_S * 1e9)


HUNGRY = """
from kernelbot.harness.sandbox import cgroups
from kernelbot.protocol import Limits
cgroups._JUDGE_BYTES = 0
assert cgroups.JudgeGroup().limit(Limits(memory_bytes=32 << 20))
eaten = bytearray(96 << 20)
print("within", flush=True)
eaten += bytearray(96 << 20)
print("beyond", flush=True)
"""


@pytest.mark.skipif("memory" not in cgroups.detect().parents, reason="no writable memory cgroup")
def test_a_judge_that_eats_memory_is_killed_alone() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", HUNGRY], capture_output=True, text=True, check=False
    )
    assert (-signal.SIGKILL, "within\n") == (ended.returncode, ended.stdout)
    assert cgroups.remove_leftovers(timeout_s=60)


SWAPLESS = """
from pathlib import Path
from kernelbot.harness.sandbox import cgroups
from kernelbot.protocol import Limits
judge = cgroups.JudgeGroup()
assert judge.limit(Limits(memory_bytes=1 << 30))
for name in ("memory.memsw.limit_in_bytes", "memory.swap.max"):
    path = Path(judge._folder, name)
    print(path.read_text().strip() if path.exists() else "absent")
print(cgroups.judge_memory_bytes(Limits(memory_bytes=1 << 30)))
"""


@pytest.mark.exhaustive  # each run has test_a_judge_that_eats_memory_is_killed_alone
@pytest.mark.skipif("memory" not in cgroups.detect().parents, reason="no writable memory cgroup")
def test_a_judge_gets_no_swap() -> None:
    """Else it would be swapped out for minutes, instead of being killed."""
    ended = subprocess.run(
        [sys.executable, "-c", SWAPLESS], capture_output=True, text=True, check=True
    )
    both, alone, size = ended.stdout.split()
    assert (both, alone) in {(size, "absent"), ("absent", "0"), ("absent", "absent")}
    assert cgroups.remove_leftovers(timeout_s=60)


def hands_on(folder: Path, controllers: str) -> None:
    """A group as the kernel shows it, which hands these on to its children."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cgroup.subtree_control").write_text(f"{controllers}\n")


LAID_OUT = {
    "a program that somebody has started": ("user@7.service/app.slice/x.scope", True),
    "in-own-cgroup": ("system.slice/own.service/supervisor", True),
    "a part of a service": ("system.slice/other.service/part", False),
    "a job of Slurm's": ("system.slice/slurmstepd.scope/job_7/step_batch/user/task_0", False),
    "all of the machine": ("", False),
}


@pytest.mark.parametrize(("own", "found"), LAID_OUT.values(), ids=list(LAID_OUT))
def test_runners_are_in_groups_beside_ours_or_nowhere(
    tmp_path: Path, own: str, found: bool
) -> None:
    """Further up, they would be free of what bounds us, such as a job's memory and processors."""
    hands_on(tmp_path / own, "")
    for folder in ("user@7.service/app.slice", "system.slice", "system.slice/own.service"):
        hands_on(tmp_path / folder, "cpu memory pids")
    expected = (tmp_path / own).parent if found else None
    assert expected == find_v2_parent(tmp_path, f"/{own}")


def test_limits_need_both_controllers(tmp_path: Path) -> None:
    hands_on(tmp_path / "job_7", "cpuset memory")
    assert find_v2_parent(tmp_path, "/job_7/task_0") is None


@pytest.mark.parametrize(
    ("own", "parent", "expected"),
    [
        ("/system.slice/kb.service", "system.slice", "kb.service"),
        ("/user.slice/run-1.scope", "user.slice", "run-1.scope"),
        ("/system.slice/kb.service/worker", "system.slice/kb.service", None),
        ("/job_7/task_0", "job_7", None),
        ("/", "", None),
    ],
)
def test_a_unit_that_runners_leave_behind_is_named(
    tmp_path: Path, own: str, parent: str, expected: str | None
) -> None:
    assert expected == sibling_unit(tmp_path / parent, own)


LEAVES_ONE_BEHIND = """
import os, threading, time
from kernelbot.harness.sandbox.cgroups import RunnerGroup
group = RunnerGroup()
lists = group.open_task_lists()
pid = os.fork()
if pid == 0:
    for fd in lists:
        os.write(fd, b"0")
    threading.Thread(target=time.sleep, args=(600,)).start()
    print(os.getpid(), flush=True)
    time.sleep(600)
os.read(0, 1)
os._exit(0)
"""


@pytest.mark.skipif(not cgroups.detect().parents, reason="no writable cgroup here")
def test_who_a_dead_judge_has_left_behind_is_ended_and_so_are_their_groups() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LEAVES_ONE_BEHIND], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as judge:
        assert judge.stdout is not None
        pid = int(judge.stdout.readline())
        parents = set(cgroups.detect().parents.values())
        groups = [path for parent in parents for path in parent.glob(f"kernelbot-{judge.pid}-*")]
        inside = [pid in group_members.members(str(group)) for group in groups]
    assert cgroups.remove_leftovers(timeout_s=60)
    assert ([True] * len(parents), False) == (inside, is_alive(pid))


@pytest.mark.skipif(
    cgroups.detect().version == 2 or "freezer" not in cgroups.detect().parents,
    reason="no group here that only freezes",
)
def test_who_moves_in_where_it_is_only_frozen_takes_no_lock_of_all() -> None:
    """The kernel asks for none if one thread writes so to the list of threads."""
    group = RunnerGroup()
    fds = group.open_task_lists()
    names = {Path(f"/proc/self/fd/{fd}").readlink().name for fd in fds}
    for fd in fds:
        os.close(fd)
    group.remove()
    assert names <= {"tasks", "cgroup.threads"}


WITH_A_THREAD = """
import sys, threading
threading.Thread(target=sys.stdin.readline).start()
print("ready", flush=True)
"""


@pytest.mark.skipif(not cgroups.detect().parents, reason="no writable cgroup here")
def test_all_threads_of_who_is_adopted_are_in_the_group_that_freezes() -> None:
    group = RunnerGroup()
    with subprocess.Popen(
        [sys.executable, "-c", WITH_A_THREAD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        group.adopt(process.pid)
        threads = list(Path(f"/proc/{process.pid}/task").iterdir())
        freezer = cgroups.detect().parents.get("freezer")
        inside = {
            f"kernelbot-{os.getpid()}" in (thread / "cgroup").read_text().splitlines()[-1]
            for thread in threads
        }
        process.kill()
    group.remove()
    assert (2, {freezer is not None}) == (len(threads), inside)
