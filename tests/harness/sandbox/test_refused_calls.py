"""System calls that runners are refused, or that change nothing, tried from inside of one."""

import errno
import json
import platform
from typing import Any

import pytest

from kernelbot.harness.sandbox import RunnerClient, run_command

pytestmark = pytest.mark.each_run()
_X86 = platform.machine() == "x86_64"


def _value(client: RunnerClient, code: str) -> Any:
    """What `code` leaves in `out`."""
    text = f"import json, os\n{code}\nprint(json.dumps(out))"
    result = run_command(client, ["python3", "-c", text], timeout_s=60)
    assert (0, "") == (result.exit_code, result.stderr)
    return json.loads(result.stdout)


@pytest.mark.parametrize("family", [40, 38, 17, 16 + 13, 31])
def test_other_kinds_of_socket_are_refused(client: RunnerClient, family: int) -> None:
    code = f"""
import socket
try:
    socket.socket({family}, socket.SOCK_STREAM); out = 0
except OSError as error: out = error.errno
"""
    assert errno.EPERM == _value(client, code)


@pytest.mark.skipif(not _X86, reason="the numbers below are x86_64's")
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("ptrace", "101, 0, 0, 0, 0"),
        ("process_vm_readv", "310, 1, 0, 0, 0, 0, 0"),
        ("mount", "165, b'none', b'/tmp', b'tmpfs', 0, 0"),
        ("umount2", "166, b'/tmp', 2"),
        ("pivot_root", "155, b'/tmp', b'/tmp'"),
        ("chroot", "161, b'/tmp'"),
        ("unshare user", "272, 0x10000000"),
        ("unshare mount", "272, 0x20000"),
        ("setns", "308, 0, 0"),
        ("clone with a user namespace", "56, 0x10000011, 0, 0, 0, 0"),
        ("bpf", "321, 0, 0, 0"),
        ("keyctl", "250, 0, 0"),
        ("add_key", "248, b'user', b'a', b'b', 1, 0"),
        ("userfaultfd", "323, 0"),
        ("io_uring_setup", "425, 1, 0"),
        ("io_setup", "206, 1, b'12345678'"),
        ("io_submit", "209, 0, 0, 0"),
        ("inotify_init", "253"),
        ("inotify_init1", "294, 0"),
        ("inotify_add_watch", "254, -1, b'/usr', 32"),
        ("fcntl to watch a folder", "72, 0, 1026, 32"),
        ("perf_event_open", "298, 0, 0, 0, 0, 0"),
        ("open_by_handle_at", "304, 0, 0, 0"),
        ("seccomp", "317, 1, 0, 0"),
        ("prctl seccomp", "157, 22, 2, 0"),
        ("personality", "135, 0x40000"),
        ("kexec_load", "246, 0, 0, 0, 0"),
        ("finit_module", "313, 0, 0, 0"),
        ("pidfd_getfd", "438, 0, 0, 0"),
        ("kcmp", "312, 1, 2, 0, 0, 0"),
        ("setsockopt to send slowly", "54, -1, 1, 47, b'1234', 4"),
        ("setsockopt to filter", "54, -1, 1, 26, 0, 16"),
        ("setsockopt to filter by a program", "54, -1, 1, 50, b'1234', 4"),
        ("setsockopt to share by a filter", "54, -1, 1, 51, 0, 16"),
        ("setsockopt to share by a program", "54, -1, 1, 52, b'1234', 4"),
        ("timer_create", "222, 1, 0, b'12345678'"),
        ("timerfd_create", "283, 1, 0"),
        ("signalfd", "282, -1, b'12345678', 8"),
        ("signalfd4", "289, -1, b'12345678', 8, 0"),
        ("mincore of much", "27, 0, ctypes.c_size_t(1 << 32), 0"),
    ],
)
def test_a_dangerous_call_is_refused(client: RunnerClient, name: str, call: str) -> None:
    code = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
out = [libc.syscall({call}), ctypes.get_errno()]
"""
    assert [-1, errno.EPERM] == _value(client, code), name


@pytest.mark.skipif(not _X86, reason="the numbers below are x86_64's")
@pytest.mark.parametrize("call", ["435, 0, 0", "0x40000000 + 39"])
def test_calls_out_of_the_filters_sight_do_not_exist(client: RunnerClient, call: str) -> None:
    code = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
out = [libc.syscall({call}), ctypes.get_errno()]
"""
    assert [-1, errno.ENOSYS] == _value(client, code)


def test_choosing_processors_succeeds_and_changes_nothing(client: RunnerClient) -> None:
    """OpenMP ends its process if binding its threads is refused; they stay the judge's choice."""
    code = """
before = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, before[:1])
os.sched_setaffinity(0, range(512))
out = [before, sorted(os.sched_getaffinity(0))]
"""
    before, after = _value(client, code)
    assert before == after


def test_choosing_a_priority_succeeds_and_changes_nothing(client: RunnerClient) -> None:
    code = """
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
out = [os.nice(19), os.sched_getscheduler(0) == os.SCHED_OTHER]
"""
    assert [0, True] == _value(client, code)
