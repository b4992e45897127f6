"""`kernelbot serve` as a process of its own, over its embedded database."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest
from scripts.local_server import MARKER, LocalServer
from scripts.processes import survivors

from kernelbot.client import KernelbotClient
from kernelbot.protocol import Mode
from tests.support.problems import sort_problem
from tests.support.workers import FAKE_HARNESS, ROOT

CONFIG = f"""\
harness_command = [{", ".join(f'"{word}"' for word in FAKE_HARNESS)}]
warm = ["numpy"]

[worker]
heartbeat_s = 0.2
stale_s = 2
sweep_s = 0.2
grace_s = 0.5
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """By which a server judges with the fake host."""
    file = tmp_path_factory.mktemp("config") / "kernelbot.toml"
    file.write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
        yield file


@pytest.fixture
def server(tmp_path: Path, config: Path) -> LocalServer:
    """Not started yet."""
    return LocalServer(tmp_path / "server", config=config)


@pytest.fixture
def several(tmp_path: Path, config: Path) -> LocalServer:
    """Not started yet; two processes will answer."""
    return LocalServer(tmp_path / "server", config=config, options=("--processes", "2"))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, config: Path) -> Iterator[LocalServer]:
    """Started, with a board. A test may kill what the server starts again."""
    server = LocalServer(tmp_path_factory.mktemp("running"), config=config)
    with server, KernelbotClient.to(server.own_endpoint()) as client:
        client.create_board(sort_problem(), name="sort")
        yield server


@pytest.fixture(scope="module")
def several_running(
    tmp_path_factory: pytest.TempPathFactory, config: Path
) -> Iterator[LocalServer]:
    """Started; two processes answer, of which a test may kill one."""
    folder = tmp_path_factory.mktemp("several")
    with LocalServer(folder, config=config, options=("--processes", "2")) as server:
        yield server


@pytest.mark.exhaustive
def test_a_second_start_on_the_same_folder_says_so(running: LocalServer) -> None:
    second = subprocess.run(
        [
            *(sys.executable, "-m", "kernelbot", "serve", "--port", "0"),
            *("--data", str(running.folder / "data")),
        ],
        env=running.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert second.returncode == 2
    assert f"Another kernelbot is running on {running.folder / 'data'}" in second.stderr


def test_a_taken_port_says_so(running: LocalServer, tmp_path: Path) -> None:
    second = subprocess.run(
        [
            *(sys.executable, "-m", "kernelbot", "serve", "--port", str(running.port)),
            *("--data", str(tmp_path / "other")),
        ],
        env=running.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert second.returncode == 2
    assert f"port {running.port}" in second.stderr


@pytest.mark.exhaustive  # each run has test_a_taken_port_says_so
def test_a_dead_worker_is_replaced(running: LocalServer) -> None:
    with KernelbotClient.to(running.own_endpoint()) as client:
        go_on = running.folder / "worker-killed"
        submitted = _submit(client, f"# fake: until {go_on} accepted\n")
        _until(lambda: client.submission(submitted).state == "running")
        os.kill(_child(running.pid, "kernelbot.server.work"), signal.SIGKILL)
        go_on.touch()
        _until(lambda: client.submission(submitted).state == "finished")
        assert client.submission(submitted).verdict == "accepted"


# Each run has test_a_worker_killed_at_a_gate (test_durability.py).
@pytest.mark.exhaustive
def test_a_killed_database_comes_back(running: LocalServer) -> None:
    with KernelbotClient.to(running.own_endpoint()) as client:
        go_on = running.folder / "database-killed"
        submitted = _submit(client, f"# fake: until {go_on} accepted\n")
        _until(lambda: client.submission(submitted).state == "running")
        killed = _database(running)
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        go_on.touch()
        _until(lambda: _database(running) not in (None, killed))
        _until(lambda: _answers(running) and client.submission(submitted).state == "finished")
        assert client.submission(submitted).verdict == "accepted"


def test_nothing_is_left_running_and_the_operators_token_ends(running: LocalServer) -> None:
    """The last that uses it."""
    httpx.get(f"{running.url}/health", timeout=60).raise_for_status()
    file = running.folder / "state" / "kernelbot" / "servers" / f"{running.port}.json"
    mode = file.stat().st_mode & 0o777
    running.stop()
    assert ([], 0o600, False) == (running.leftovers, mode, file.exists())


@pytest.mark.exhaustive
def test_a_killed_server_loses_nothing(server: LocalServer) -> None:
    with server, KernelbotClient.to(server.own_endpoint()) as client:
        client.create_board(sort_problem(), name="sort")
        submitted = _submit(client, "# fake: sleep 1 accepted\n")
        os.kill(server.pid, signal.SIGKILL)
        server.stop()
    with server, KernelbotClient.to(server.own_endpoint()) as client:
        _until(lambda: client.submission(submitted).state == "finished")
        assert client.submission(submitted).verdict == "accepted"


@pytest.mark.exhaustive
def test_who_follows_goes_on_once_a_killed_server_is_back(server: LocalServer) -> None:
    """By its new token: the one that the follower began with ended with the killed process."""
    with server, KernelbotClient.to(server.own_endpoint()) as client:
        client.create_board(sort_problem(), name="sort")
        go_on = server.folder / "server-back"
        submitted = _submit(client, f"# fake: until {go_on} accepted\n")
        shown = server.folder / "shown"
        command = (sys.executable, "-m", "kernelbot", "submission", "wait", str(submitted))
        stranger = server.environment() | {MARKER: ""}  # not one of those that end with the server
        with shown.open("w") as file:
            follower = subprocess.Popen(
                command, env=stranger, stdout=file, stderr=subprocess.STDOUT
            )
        _until(lambda: "\nrunning" in shown.read_text())
        os.kill(server.pid, signal.SIGKILL)
        _until(lambda: "Still trying" in shown.read_text())
        server.stop()
    with server:
        go_on.touch()
        assert 0 == follower.wait(60), shown.read_text()


@pytest.mark.exhaustive
def test_several_processes_end_with_the_server(several: LocalServer) -> None:
    with several:
        answering = _children(several.pid, "kernelbot.server.answer")
    assert (len(answering), several.leftovers) == (2, [])


@pytest.mark.exhaustive
def test_several_processes_end_with_a_killed_server(several: LocalServer) -> None:
    with several:
        members = [p for p in several.processes() if p.name.startswith("python")]
        os.kill(several.pid, signal.SIGKILL)
        _until(lambda: not survivors(members))


@pytest.mark.exhaustive
def test_several_processes_count_their_answers_together(several_running: LocalServer) -> None:
    before = _answers_to_health(several_running)
    for _ in range(30):  # so many that neither process is left out
        httpx.get(f"{several_running.url}/health", timeout=60).raise_for_status()
    _until(lambda: before + 30 == _answers_to_health(several_running))  # counted once it is sent
    folder = several_running.folder / "data" / "metrics"
    assert 2 == len(list(folder.glob("histogram_*.db")))


@pytest.mark.exhaustive
def test_a_dead_one_of_several_processes_is_replaced(several_running: LocalServer) -> None:
    answering = partial(_children, several_running.pid, "kernelbot.server.answer")
    first, second = answering()
    os.kill(first, signal.SIGKILL)
    _until(lambda: first not in (now := answering()) and second in now and len(now) == 2)
    for _ in range(30):
        httpx.get(f"{several_running.url}/health", timeout=60).raise_for_status()


def _answers_to_health(server: LocalServer) -> float:
    text = httpx.get(f"{server.url}/metrics", timeout=60).raise_for_status().text
    line = 'kernelbot_http_request_seconds_count{method="GET",route="health",status="200"} '
    found = [row.removeprefix(line) for row in text.splitlines() if row.startswith(line)]
    return sum(float(count) for count in found)


def _submit(client: KernelbotClient, code: str) -> int:
    return client.submit("fast.py", code.encode(), board="sort", mode=Mode.TEST).id


def _database(server: LocalServer) -> int | None:
    """The process id of the database's server; None: it is just being started."""
    file = server.folder / "data" / "postgres" / "postmaster.pid"
    try:
        return int(file.read_text().split()[0])
    except (FileNotFoundError, IndexError):
        return None


def _answers(server: LocalServer) -> bool:
    return httpx.get(f"{server.url}/ready/judging", timeout=60).status_code == httpx.codes.OK


def _until(condition: Callable[[], bool], within_s: float = 90.0) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.05)


def _child(parent: int, name: str) -> int:
    """The process that `parent` started with `name` on its command line."""
    (pid,) = _children(parent, name)
    return pid


def _children(parent: int, name: str) -> list[int]:
    """The processes that `parent` started with `name` on their command lines."""
    threads = Path(f"/proc/{parent}/task").iterdir()
    pids = b" ".join(_read(thread / "children") for thread in threads).split()
    return [int(pid) for pid in pids if name.encode() in _read(Path(f"/proc/{int(pid)}/cmdline"))]


def _read(file: Path) -> bytes:
    """Empty if whose it is has ended meanwhile."""
    with contextlib.suppress(OSError):
        return file.read_bytes()
    return b""
