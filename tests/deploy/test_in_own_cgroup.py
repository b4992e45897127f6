"""A command that may limit what it starts, where its control group is all its own."""

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.nobody import open_folder

SCRIPT = Path(__file__).resolve().parents[2] / "deploy/in-own-cgroup"
EMPTY = "set -e; umount -R /sys/fs/cgroup; mount -t tmpfs kernelbot /sys/fs; mkdir /sys/fs/cgroup"
SHOWS = "tail -1 /proc/self/cgroup; cat /sys/fs/cgroup/cgroup.procs"


def run_alone(text: str, before: str = ":") -> subprocess.CompletedProcess[str]:
    """`text` for sh in mount and control group namespaces of its own, with an empty
    /sys/fs/cgroup. `before`: what is done outside of them."""
    inner = shlex.join(["unshare", "--mount", "--cgroup", "sh", "-c", f"{EMPTY}; {text}"])
    command = ["sh", "-c", f"{before}; exec {inner}"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def group() -> Iterator[Path]:
    """A new one of version 2."""
    parents = [Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup")]
    parent = next((path for path in parents if (path / "cgroup.controllers").exists()), None)
    if os.geteuid() != 0 or parent is None or not os.access(parent, os.W_OK):
        pytest.skip("no control group of version 2 can be made here")
    made = parent / f"test-{os.getpid()}"
    try:
        made.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error.strerror}")
    yield made
    for folder in (made / "supervisor", made):
        for _ in range(100):  # the last process may still be on its way out
            with suppress(FileNotFoundError, OSError):
                folder.rmdir()
            if not folder.exists():
                break
            time.sleep(0.01)


def test_the_command_leaves_its_group_free_to_hand_limits_on(group: Path) -> None:
    text = f"mount -t cgroup2 none /sys/fs/cgroup; exec {SCRIPT} sh -c '{SHOWS}'"
    done = run_alone(text, before=f"echo $$ > {group}/cgroup.procs")
    assert (0, "0::/supervisor\n") == (done.returncode, done.stdout), done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user can't mount")
@pytest.mark.parametrize("made", [":", "touch /sys/fs/cgroup/cgroup.controllers"])
def test_the_machines_own_group_is_left_alone(made: str) -> None:
    """The root group is known by its lack of a `cgroup.type`."""
    done = run_alone(f"{made}; exec {SCRIPT} ls /sys/fs/cgroup")
    assert (0, False) == (done.returncode, "supervisor" in done.stdout), done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user can't mount")
def test_the_command_runs_where_the_group_cannot_be_written() -> None:
    own = "/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)"
    text = f"touch /sys/fs/cgroup/cgroup.controllers; mkdir -p {own}; touch {own}/cgroup.type; "
    with open_folder() as folder:
        script = shutil.copy2(SCRIPT, folder)
        text += f"mount -o remount,ro /sys/fs; exec setpriv --reuid=60717 {script} id -u"
        done = run_alone(text)
    assert (0, "60717\n", "") == (done.returncode, done.stdout, done.stderr)


def test_the_commands_exit_code_and_arguments_are_its_own() -> None:
    command = [str(SCRIPT), "sh", "-c", 'echo "$1"; exit 7', "sh", "a'; echo x"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (7, "a'; echo x\n") == (done.returncode, done.stdout)
