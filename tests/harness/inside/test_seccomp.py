import errno
import json
import subprocess
import sys

import pytest

from kernelbot.harness.inside.seccomp import UnknownArchitecture, build_filter

NEWEST_KNOWN = 462
REFUSED = {"memfd_secret": 447, "statmount": 457, "listmount": 458}
CALL = """
import ctypes, json, sys
from kernelbot.harness.inside import kernel
from kernelbot.harness.inside.seccomp import build_filter

libc = ctypes.CDLL(None, use_errno=True)
kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
kernel.install_filter(build_filter())

def error(number):
    ctypes.set_errno(0)
    libc.syscall(number, 0, 0, 0, 0, 0, 0)
    return ctypes.get_errno()

print(json.dumps([error(int(number)) for number in sys.argv[1:]]))
"""


def errors_inside(*numbers: int) -> list[int]:
    """What these calls fail with, without arguments, in a process with the filter."""
    command = [sys.executable, "-c", CALL, *map(str, numbers)]
    ran = subprocess.run(command, check=True, capture_output=True)
    found: list[int] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_filter_is_whole_instructions_and_within_the_kernels_bound(machine: str) -> None:
    program = build_filter(machine)
    assert 0 == len(program) % 8
    assert 4096 > len(program) // 8


def test_an_unknown_processor_is_refused() -> None:
    with pytest.raises(UnknownArchitecture, match="z80"):
        build_filter("z80")


def test_calls_that_are_newer_than_the_list_are_as_on_an_older_linux() -> None:
    newer = range(NEWEST_KNOWN + 1, NEWEST_KNOWN + 40)
    assert {errno.ENOSYS} == set(errors_inside(*newer))


def test_the_newest_of_the_list_is_called() -> None:
    assert errno.EPERM not in errors_inside(NEWEST_KNOWN)


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_judge_could_not_read_or_counts_the_machines_is_refused(name: str) -> None:
    assert [errno.EPERM] == errors_inside(REFUSED[name])


NETLINK = """
import json, socket
from kernelbot.harness.inside import kernel
from kernelbot.harness.inside.seccomp import build_filter

kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
kernel.install_filter(build_filter(connects=%s))

def error(family):
    try:
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, family).close()
    except OSError as refused:
        return refused.errno

print(json.dumps([error(0), error(2)]))
"""


@pytest.mark.parametrize(
    ("connects", "expected"), [(False, [errno.EPERM, errno.EPERM]), (True, [None, errno.EPERM])]
)
def test_only_who_connects_asks_for_addresses(connects: bool, expected: list[int | None]) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", NETLINK % connects], check=True, capture_output=True
    )
    assert expected == json.loads(ran.stdout)
