"""Problems are untrusted too: what their code can reach, and who is blamed for it."""

import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts.processes import family

from kernelbot.harness.host.cancellation import Cancellation, Cancelled
from kernelbot.harness.host.host import Host
from kernelbot.protocol import (
    EventKind,
    Fault,
    Limits,
    Mode,
    ProgressEvent,
    RunResult,
    SourceFile,
    Verdict,
)
from tests.harness.jobs import REFERENCE, SORT, a_job, a_problem

SECRETS = {
    "ADMIN_TOKEN": "secret-of-the-operator",
    "DATABASE_URL": "postgresql://kernelbot:secret-of-the-database@127.0.0.1/kernelbot",
    "HF_TOKEN": "hf_secret-of-the-hub",
}
SLOW = "import time\ndef custom_kernel(data):\n    time.sleep(9)\n"
NOSY = """
import ctypes, glob, os, signal, socket
import numpy as np

SERVER, FOLDER, PORT = {server}, {folder!r}, {port}
found = []

def attempt(what, step):
    try:
        if step():
            found.append(what)
    except Exception:
        pass

def read(path):
    with open(path, "rb") as file:
        return b"secret" in file.read()

def connect(family, address):
    with socket.socket(family) as probe:
        probe.settimeout(1)
        return probe.connect_ex(address) == 0

def write(path):
    with open(path, "ab") as file:
        file.write(b"x")
    return True

def look_into(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, pid, 0, 0) == 0:
        return True
    class Stretch(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))
    kept = ctypes.create_string_buffer(8)
    mine, theirs = Stretch(ctypes.addressof(kept), 8), Stretch(0x400000, 8)
    return libc.process_vm_readv(pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0) > 0

attempt("its environment", lambda: any("secret" in value for value in os.environ.values()))
for entry in glob.glob("/proc/[0-9]*"):
    if entry != f"/proc/{{os.getpid()}}":
        attempt(f"{{entry}}/environ", lambda: read(f"{{entry}}/environ"))
        attempt(f"{{entry}}/mem", lambda: open(f"{{entry}}/mem", "rb"))
        attempt(f"memory of {{entry}}", lambda: look_into(int(entry[6:])))
for root, _, names in os.walk(FOLDER):
    found.append(root)
attempt("a database's socket", lambda: connect(socket.AF_UNIX, FOLDER + "/.s.PGSQL.5432"))
attempt("an abstract socket", lambda: connect(socket.AF_UNIX, chr(0) + {abstract!r}))
attempt("the loopback", lambda: connect(socket.AF_INET, ("127.0.0.1", PORT)))
attempt("the network", lambda: connect(socket.AF_INET, ("192.0.2.1", 80)))
attempt("the server's process", lambda: os.kill(SERVER, 0) is None)
attempt("the server's memory", lambda: look_into(SERVER))
attempt("all processes", lambda: os.kill(-1, 0) is None and len(glob.glob("/proc/[0-9]*")) > 3)
for path in ("/etc/passwd", "/usr/x", "/harness/x", "/root/x", "/var/x", "/dev/sda", "/dev/mem"):
    attempt("writes " + path, lambda: write(path))
for path in ("/etc/shadow", "/root/.ssh", "/home", "/var/lib", "/run", "/sys/fs/cgroup"):
    attempt("sees " + path, lambda: os.listdir(path) if os.path.isdir(path) else read(path) or True)
attempt("privileges", lambda: os.setuid(0) is None or os.setgroups([0]) is None)
attempt("a mount", lambda: ctypes.CDLL(None).mount(b"none", b"/box", b"tmpfs", 0, b"") == 0)
others = [p for p in glob.glob("/tmp/*") + glob.glob("/box/*") if not os.path.samefile(p, ".")]
found.extend(others)

def generate_input(size, seed):
    assert not found, found
    return np.random.default_rng(seed).standard_normal(size).astype(np.float32)
def ref_kernel(data):
    return np.sort(data)
def check_implementation(data, output):
    return np.array_equal(ref_kernel(data), output), ""
"""


def quiet(_event: ProgressEvent) -> None:
    return


def judged(host: Host, reference: str, source: str = SORT, **changes: object) -> RunResult:
    problem = a_problem(reference=reference, **changes)  # type: ignore[arg-type] # its own keywords
    return host.judge(a_job(source, problem=problem), quiet)


@pytest.fixture
def nosy_host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    made = Host()
    yield made
    made.close()


@pytest.mark.exhaustive
def test_a_reference_that_tries_everything_finds_nothing(nosy_host: Host, tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:3]):
        if folder.is_relative_to("/tmp/pytest-of-root"):
            folder.chmod(0o755)
    (tmp_path / "jobspec.json").write_text("secret of another job")
    abstract = f"kernelbot-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as database,
        socket.socket(socket.AF_UNIX) as hidden,
    ):
        here = Path.cwd()
        os.chdir(tmp_path)  # a socket's address is short
        database.bind(".s.PGSQL.5432")
        os.chdir(here)
        database.listen()
        hidden.bind(f"\0{abstract}")
        hidden.listen()
        reference = NOSY.format(
            server=os.getpid(),
            folder=str(tmp_path),
            port=server.getsockname()[1],
            abstract=abstract,
        )
        result = judged(nosy_host, reference)
    assert (Verdict.ACCEPTED, None) == (result.verdict, result.failure)


def test_nothing_secret_is_in_any_process_that_judges(nosy_host: Host) -> None:
    nosy_host.judge(a_job(SORT), quiet)
    below = {one.pid for one in family(os.getpid(), "NO_SUCH_MARKER=1")} - {os.getpid()}
    environments = [_environment(pid) for pid in below]
    assert 4 <= len(environments)
    # Beside them there may be servers of other tests, which have secrets of their own.
    secrets = [value.encode() for value in SECRETS.values()]
    assert [] == [text for text in environments for secret in secrets if secret in text]


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


@pytest.mark.exhaustive  # each run has test_nothing_secret_is_in_any_process_that_judges
def test_a_cancelled_job_leaves_nothing_of_the_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    cancelled = Cancellation()

    def cancel(event: ProgressEvent) -> None:
        if event.kind is EventKind.PHASE_STARTED:
            threading.Timer(0.3, cancelled.set).start()

    made = Host()
    try:
        with pytest.raises(Cancelled):
            made.judge(a_job(SLOW), cancel, cancelled)
    finally:
        made.close()
    assert [] == list(tmp_path.rglob("*"))


def test_a_submission_sees_nothing_of_the_cage(host: Host) -> None:
    source = (
        "import os, numpy as np\nprint(sorted(os.listdir('/box')), sorted(os.listdir('/tmp')))\n"
    )
    result = judged(
        host, REFERENCE, source + "def custom_kernel(data):\n    return np.sort(data)\n"
    )
    assert (Verdict.ACCEPTED, "['submission.py'] []\n") == (result.verdict, result.stdout)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import os; os._exit(3)", "ended its own process with exit code 3"),
        ("import ctypes; ctypes.string_at(8)", "was ended by signal 11"),
        ("raise ValueError('no luck')", "ValueError: no luck"),
        ("import os; os.close(max(map(int, os.listdir('/proc/self/fd')[:-1])))", ""),
        ("return object()", "can't be sent to a runner"),
    ],
)
def test_a_problem_that_fails_is_named(host: Host, body: str, said: str) -> None:
    reference = REFERENCE.replace("    return np.random", f"    {body}\n    return np.random")
    result = judged(host, reference)
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (result.verdict, result.failure.fault)
    assert said in result.failure.message
    assert "problem" in result.failure.message


@pytest.mark.exhaustive
def test_a_reference_that_eats_memory_ends_alone(host: Host) -> None:
    hungry = "kept = [np.ones(1 << 24) for _ in range(10_000)]"
    reference = REFERENCE.replace("    return np.random", f"    {hungry}\n    return np.random")
    problem = a_problem(reference=reference)
    job = a_job(SORT, problem=problem, limits=Limits(memory_bytes=1 << 28))
    result = host.judge(job, quiet)
    after = judged(host, REFERENCE)
    assert result.failure is not None
    assert "The problem's code used more than" in result.failure.message
    assert (Verdict.INTERNAL_ERROR, Verdict.ACCEPTED) == (result.verdict, after.verdict)


TASK = """
import dataclasses
import typing
import numpy as np
class Both(typing.NamedTuple):
    keys: np.ndarray
    note: str
class Outer:
    @dataclasses.dataclass
    class Inner:
        data: np.ndarray
        def __post_init__(self):
            assert __name__ == "task"
"""
RECORDS = """
import numpy as np
from task import Both, Outer
def generate_input(size, seed):
    return Both(np.random.default_rng(seed).standard_normal(size).astype(np.float32), "unsorted")
def ref_kernel(both):
    return Outer.Inner(np.sort(both.keys))
def check_implementation(both, output):
    assert type(both) is Both and both.note == "unsorted"
    return type(output) is Outer.Inner and np.array_equal(output.data, np.sort(both.keys)), ""
"""


@pytest.mark.exhaustive  # each run has test_nothing_secret_is_in_any_process_that_judges
@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        ("Outer.Inner(np.sort(both.keys))", Verdict.ACCEPTED),
        ("Outer.Inner(both.keys - 1)", Verdict.WRONG_ANSWER),
        ("both", Verdict.WRONG_ANSWER),
    ],
)
def test_records_of_the_problem_pass_through_a_judge_that_has_not_loaded_it(
    host: Host, made: str, verdict: Verdict
) -> None:
    source = (
        f"import numpy as np\nfrom task import Outer\ndef custom_kernel(both):\n    return {made}\n"
    )
    problem = a_problem(reference=RECORDS, files=(SourceFile("task.py", TASK),))
    job = a_job(f"{source}    return {made}\n", problem=problem, mode=Mode.BENCHMARK)
    result = host.judge(job, quiet)
    assert verdict == result.verdict, result.failure
    assert "task" not in sys.modules


UNDER_WAY = """
import os
import socket

null, kept = os.open("/dev/null", os.O_RDONLY), []
try:
    while True:
        kept.append(socket.socketpair())
        kept[-1][0].setblocking(False)
        try:
            while True:
                socket.send_fds(kept[-1][0], [b"x"], [null] * 200)
        except BlockingIOError:
            pass
except OSError:  # too many references
    pass

"""


def test_descriptors_that_a_submission_leaves_under_way_keep_no_data_back(host: Host) -> None:
    result = judged(host, REFERENCE, UNDER_WAY + SORT)
    assert (Verdict.ACCEPTED, None) == (result.verdict, result.failure)
