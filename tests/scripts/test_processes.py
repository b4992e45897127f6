import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from scripts.processes import Process, family, survivors

MARKER = "KERNELBOT_TEST_FAMILY=a'; echo x"


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[str]]:
    """A process that has started a child, a daemon in a session of its own, and an orphan."""
    program = (
        "import subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "daemon = subprocess.run(['setsid', '-f', 'sleep', '60'])\n"
        "print(child.pid, flush=True)\n"
        "sys.stdin.read()\n"
        "child.kill(); child.wait()\n"
    )
    name, value = MARKER.split("=", 1)
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, name: value},
    )
    yield process
    for member in family(process.pid, MARKER):
        if member.pid != process.pid:
            os.kill(member.pid, 9)
    process.communicate()


def child_of(parent: "subprocess.Popen[str]") -> int:
    assert parent.stdout is not None
    return int(parent.stdout.readline())


def test_a_family_is_the_process_its_children_and_its_daemons(
    parent: "subprocess.Popen[str]",
) -> None:
    child = child_of(parent)
    members = family(parent.pid, MARKER)
    daemons = [member for member in members if member.pid not in {parent.pid, child}]
    assert {parent.pid, child} <= {member.pid for member in members}
    assert len(daemons) == 1


def test_the_children_of_a_daemon_belong_to_the_family_though_they_lost_the_mark() -> None:
    name, value = MARKER.split("=", 1)
    daemon = subprocess.Popen(
        ["setsid", "sh", "-c", "env -i sleep 60 & echo $!; exec cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, name: value},
    )
    child = child_of(daemon)
    found = {member.pid for member in family(-1, MARKER)}
    os.kill(child, 9)
    daemon.communicate()
    assert {daemon.pid, child} <= found


def test_who_was_killed_survives_no_longer(parent: "subprocess.Popen[str]") -> None:
    child = child_of(parent)
    members = family(parent.pid, MARKER)
    os.kill(child, 9)
    # The parent reaps its child only at the end: a zombie counts as dead.
    while child in {process.pid for process in survivors(members)}:
        pass
    assert parent.pid in {process.pid for process in survivors(members)}


def test_a_process_with_a_recycled_pid_is_another_one() -> None:
    me = next(p for p in family(os.getpid(), "NOBODY=0") if p.pid == os.getpid())
    predecessor = Process(me.pid, me.parent, me.started - 1, me.name)
    assert (me.alive, predecessor.alive) == (True, False)


def test_memory_of_a_process_is_counted_and_of_a_dead_one_is_zero() -> None:
    me = next(p for p in family(os.getpid(), "NOBODY=0") if p.pid == os.getpid())
    nobody = Process(2**22 + 1, 1, 0, "nobody")
    assert me.memory_bytes > 1 << 20
    assert nobody.memory_bytes == 0
