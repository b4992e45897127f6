"""A runner's control group may open some devices alone. The kernel, its groups and its filter are
real; the devices are those that every machine has."""

import contextlib
import ctypes
import os
import platform
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.harness.host.pool import key_of
from kernelbot.harness.sandbox import RunnerClient, run_command
from kernelbot.harness.sandbox.cgroups import RunnerGroup, detect
from kernelbot.harness.sandbox.device_filter import DeviceFilter, can_filter, render_filter
from kernelbot.protocol import Verdict
from tests.support.exhaustive import cases
from tests.support.searching import bare_job

pytestmark = pytest.mark.skipif(not can_filter(), reason="no filter of devices can be had here")
MEMORY = 1
"""The major number of `/dev/null`, `/dev/zero` and the like."""
NULL, ZERO, FULL = 3, 5, 7
OPENS = """
import os
for name in ("null", "zero", "full", "tty"):
    try:
        os.close(os.open(f"/dev/{name}", os.O_RDWR))
        print(name)
    except OSError as error:
        print(name, error.errno)
"""


@pytest.fixture
def filtered(client: RunnerClient) -> Iterator[RunnerClient]:
    yield client
    client.filter = None


def opened(client: RunnerClient) -> list[str]:
    result = run_command(client, ["python3", "-c", OPENS], timeout_s=60)
    return result.stdout.splitlines()[:3]


def test_a_runner_opens_the_devices_that_it_is_left_alone(filtered: RunnerClient) -> None:
    before = opened(filtered)
    filtered.filter = DeviceFilter(MEMORY, (NULL, ZERO))
    assert (["null", "zero", "full"], ["null", "zero", "full 1"]) == (before, opened(filtered))


def test_another_major_number_is_none_of_its_business(filtered: RunnerClient) -> None:
    filtered.filter = render_filter((128,))
    assert opened(filtered) == ["null", "zero", "full"]


def test_where_there_is_nothing_to_hide_there_is_no_filter() -> None:
    assert render_filter(()) is None


def test_a_filter_goes_with_its_group() -> None:
    group = RunnerGroup()
    assert group.freezer is not None
    folder = group.freezer.second_version
    assert folder is not None
    DeviceFilter(MEMORY, (NULL,)).attach(group)
    lists = group.open_task_lists()

    def move_in() -> None:
        for one in lists:
            os.write(one, b"0")

    def opens_full() -> bool:
        command = [sys.executable, "-c", "open('/dev/full', 'rb')"]
        return not subprocess.run(
            command, preexec_fn=move_in, stderr=subprocess.DEVNULL, check=False
        ).returncode

    within = opens_full()
    for one in lists:
        os.close(one)
    group.remove()
    lists.clear()
    assert (within, opens_full()) == (False, True)
    assert not Path(folder).exists()


SLOW = "import time\ndef custom_kernel(data):\n    time.sleep(1)\n    return sorted(data)\n"
_QUERY = 16  # BPF_PROG_QUERY


def has_filter(folder: Path) -> bool:
    """Whether a program decides for this very group which devices are opened."""
    group = os.open(folder, os.O_RDONLY)
    ids = (ctypes.c_uint32 * 8)()
    asked = struct.pack("IIIIQI", group, 6, 0, 0, ctypes.addressof(ids), len(ids))
    try:
        given = ctypes.create_string_buffer(asked, 64)
        number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syscall(ctypes.c_long(number), _QUERY, given, 64) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return bool(struct.unpack_from("IIIIQI", given.raw)[5])
    finally:
        os.close(group)


@pytest.mark.exhaustive  # each run has test_a_filter_goes_with_its_group
@pytest.mark.parametrize("nodes", cases([(128,), ()], always=[(128,)]))
def test_a_jobs_runners_have_the_filter_that_its_host_decided_on(nodes: tuple[int, ...]) -> None:
    host, job = Host(), bare_job(SLOW)
    host.warm(key_of(job)).render_nodes = nodes
    before = set(groups())
    with contextlib.closing(host), ThreadPoolExecutor(1) as others:
        judged = others.submit(host.judge, job, lambda _event: None)
        found = False
        while not judged.done():
            for folder in set(groups()) - before:
                with contextlib.suppress(OSError):  # it may have ended
                    found |= has_filter(folder)
            time.sleep(0.01)
        assert judged.result().verdict is Verdict.ACCEPTED, judged.result().failure
    assert found == bool(nodes)


def groups() -> list[Path]:
    """The groups of version 2 of all runners that there are."""
    return list(detect().parents["freezer"].glob("kernelbot-*"))
