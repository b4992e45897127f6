"""What libraries of GPUs are known to ask of the system, tried inside of a runner: a refusal that a
library can't do with is found here, and not by the first competition's submissions.

The table says of each library what it asks for, and whether it gives up if it is refused.
`rehearsal.py` has this file run there, and reads what `main` prints.
"""

import ctypes
import json
import mmap
import os
import queue
import resource
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

_SYSTEM = "/sys/devices/system"
_RESERVED_BYTES = 4 << 40
"""The addresses that CUDA reserves for its unified memory."""
_MAP_NORESERVE = 0x4000
_PR_SET_NAME = 15
_MPOL_DEFAULT = 0
_SYSCALLS = {
    "x86_64": {"get_mempolicy": 239, "mbind": 237},
    "aarch64": {"get_mempolicy": 236, "mbind": 235},
}


@dataclass(frozen=True)
class Need:
    """Something that a library asks of the system."""

    library: str
    action: str
    is_fatal: bool
    """Whether the library gives up if it is refused; else it goes another way."""
    attempt: Callable[[], object]
    """Raises `OSError`, or whatever else says that it can't be had."""


@dataclass(frozen=True)
class Rehearsed:
    """How one `Need` went in a runner. `refusal`: empty if it was granted."""

    library: str
    action: str
    is_fatal: bool
    refusal: str

    @property
    def ends_the_library(self) -> bool:
        """Whether the library can't be used here."""
        return self.is_fatal and bool(self.refusal)


def main() -> None:
    """Inside: print what came of each need, as JSON."""
    print(json.dumps([asdict(_rehearsed(need)) for need in NEEDS]))


def _rehearsed(need: Need) -> Rehearsed:
    try:
        need.attempt()
        refusal = ""
    except (OSError, AttributeError, ValueError, subprocess.SubprocessError) as error:
        refusal = f"{type(error).__name__}: {error}"
    return Rehearsed(need.library, need.action, need.is_fatal, refusal)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _expect(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _syscall(name: str, *arguments: object) -> None:
    number = _SYSCALLS[os.uname().machine][name]
    _expect(_libc().syscall(ctypes.c_long(number), *arguments))


def _ask_for_policy() -> None:
    _syscall("get_mempolicy", None, None, ctypes.c_ulong(0), None, 0)


def _bind_memory() -> None:
    page = mmap.mmap(-1, mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    size, none = ctypes.c_ulong(mmap.PAGESIZE), ctypes.c_ulong(0)
    _syscall("mbind", ctypes.c_void_p(start), size, _MPOL_DEFAULT, None, none, 0)


def _choose_own_processors() -> None:
    os.sched_setaffinity(0, os.sched_getaffinity(0))


def _reserve_addresses() -> None:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    with mmap.mmap(-1, _RESERVED_BYTES, flags=flags, prot=0):
        pass


def _name_a_thread() -> None:
    _expect(_libc().prctl(_PR_SET_NAME, b"cuda-EvtHandlr", 0, 0, 0))


def _name_another_thread() -> None:
    """As pthread_setname_np does, from the thread that started it."""
    number, over = queue.SimpleQueue[int](), threading.Event()

    def live() -> None:
        number.put(threading.get_native_id())
        over.wait()

    thread = threading.Thread(target=live)
    thread.start()
    try:
        Path(f"/proc/self/task/{number.get()}/comm").write_text("cuda-EvtHandlr")
    finally:
        over.set()
        thread.join()


def _share_a_file() -> None:
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        os.posix_fallocate(file.fileno(), 0, 1 << 20)
        with mmap.mmap(file.fileno(), 1 << 20) as mapped:
            mapped[:4] = b"nccl"


def _listen_by_no_name() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made:
        made.bind("\0tmp-nccl-socket")


def _listen_in_tmp() -> None:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as made:
        made.bind(str(Path(folder, "symm_mem-1")))


def _send_a_descriptor() -> None:
    one, other = socket.socketpair()
    with one, other:
        socket.send_fds(one, [b"."], [one.fileno()])
        _, fds, _, _ = socket.recv_fds(other, 1, 1)
        os.close(fds[0])


def _list_interfaces() -> None:
    socket.if_nameindex()


def _raise_own_limit() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _start_a_program() -> None:
    subprocess.run(["true"], check=True, timeout=10)


def _load_what_was_built() -> None:
    """Map a file of the runner's home as code, as a compiled extension is."""
    source = Path(sys.executable).resolve().read_bytes()[:4096]
    with tempfile.NamedTemporaryFile(dir=Path.home()) as file:
        file.write(source)
        file.flush()
        mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()


def _memory_file() -> None:
    os.close(os.memfd_create("cuda"))


def _event_file() -> None:
    os.close(_expect(_libc().eventfd(0, 0)))


def _keep_out_of_forks() -> None:
    with mmap.mmap(-1, 4096) as mapped:
        mapped.madvise(mmap.MADV_DONTFORK)


def _lock_a_page() -> None:
    page = ctypes.create_string_buffer(8192)
    _expect(_libc().mlock(page, 4096))


def _take_a_descriptor() -> None:
    """From a process of one's own."""
    fd = os.pidfd_open(os.getpid())
    try:
        os.close(_expect(_libc().syscall(ctypes.c_long(438), fd, 0, 0)))
    finally:
        os.close(fd)


def _read(path: str) -> Callable[[], object]:
    return lambda: Path(path).read_bytes()


NEEDS: tuple[Need, ...] = (
    Need("NCCL", "choose processors for a communicator (2.29.2)", True, _choose_own_processors),
    Need("NCCL", "share memory by a file in /dev/shm", True, _share_a_file),
    Need("NCCL", "listen on a socket without a file", True, _listen_by_no_name),
    Need("NCCL", "send a descriptor", True, _send_a_descriptor),
    Need("NCCL", "list network interfaces", True, _list_interfaces),
    Need("NCCL", "raise its own limit of open files", False, _raise_own_limit),
    Need("libcuda", "reserve 4 TiB of addresses", True, _reserve_addresses),
    Need("libcuda", "name a thread", False, _name_a_thread),
    Need("libcuda", "name another of its threads, by a file of /proc", True, _name_another_thread),
    Need("libcuda", "make a file in memory", True, _memory_file),
    Need("libcuda", "make a descriptor of events", True, _event_file),
    Need("libcuda", "read which devices the kernel has", True, _read("/proc/devices")),
    Need("libcuda", "read its own maps", True, _read("/proc/self/maps")),
    Need("libcuda", "read which processors there are", True, _read(f"{_SYSTEM}/cpu/online")),
    Need("libcuda", "read which nodes of memory there are", False, _read(f"{_SYSTEM}/node/online")),
    Need("libcuda", "ask for the memory policy", False, _ask_for_policy),
    Need("libcuda", "lock a page of memory", False, _lock_a_page),
    Need("torch", "start a compiler", True, _start_a_program),
    Need("torch", "load what was built at home", True, _load_what_was_built),
    Need("torch", "listen on a socket in /tmp (symmetric memory)", True, _listen_in_tmp),
    Need("torch", "take a descriptor (expandable segments)", False, _take_a_descriptor),
    Need("triton", "start ptxas", True, _start_a_program),
    Need("triton", "load a launcher that was built at home", True, _load_what_was_built),
    Need("OpenMP", "choose processors for threads", False, _choose_own_processors),
    Need("ROCr", "keep memory out of forks", True, _keep_out_of_forks),
    Need("ROCr", "bind memory to a node", False, _bind_memory),
    Need("RCCL", "choose processors for a communicator", True, _choose_own_processors),
    Need("RCCL", "share memory by a file in /dev/shm", True, _share_a_file),
)
