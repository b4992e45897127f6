"""`kernelbot serve` before a person."""

import contextlib
import fcntl
import json
import os
import pty
import signal
import subprocess
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.terminal import COMMAND, Shell, read_until


@pytest.fixture
def home() -> Iterator[Path]:
    # Not pytest's folder: the embedded database's user must be able to reach it.
    with tempfile.TemporaryDirectory(prefix="kernelbot-test-") as folder:
        yield Path(folder)


@contextlib.contextmanager
def serving(home: Path, theirs: int, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A server whose terminal is `theirs`. If the block raises, it is killed, else waited for."""

    def in_its_terminal() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    with subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", "--data", "data", *options],
        cwd=home,
        env=Shell(home, {}).environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=in_its_terminal,
    ) as process:
        os.close(theirs)
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def served(home: Path, until: str, *options: str) -> tuple[int, str]:
    """The exit code, and what the terminal shows of a server that is interrupted once it has shown
    `until`."""
    ours, theirs = pty.openpty()
    with serving(home, theirs, *options) as process:
        shown = read_until(ours, until)
        process.send_signal(signal.SIGINT)
        shown += read_until(ours, None)
    os.close(ours)
    return process.returncode, shown


@pytest.mark.exhaustive
def test_the_link_and_the_next_step_are_shown_and_the_log_is_in_a_file(home: Path) -> None:
    code, shown = served(home, "serve.log\r\n")
    log = (home / "data" / "serve.log").read_text()
    logged = [json.loads(line)["event"] for line in log.splitlines() if line.startswith("{")]
    heads = [line.split(":")[0].strip() for line in shown.split("\r\n") if line]
    assert (0, "KernelBot serves at http", True) == (code, heads[0], "stopping" in logged)
    assert ["http", "Another link, later", "Next", "Log", "Stopping ..."] == heads[2:]


@pytest.mark.exhaustive
def test_with_json_the_log_stays_and_nothing_else_is_shown(home: Path) -> None:
    code, shown = served(home, "serving", "--json")
    assert (0, False, True) == (code, (home / "data" / "serve.log").exists(), "stopping" in shown)
    assert [False, False] == [text in shown for text in ("KernelBot serves", "Stopping ...")]


def is_left(home: Path) -> bool:
    """Whether a server has left its database running."""
    return (home / "data" / "postgres" / "postmaster.pid").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_closing_the_terminal_ends_it_in_order(home: Path, options: tuple[str, ...]) -> None:
    ours, theirs = pty.openpty()
    with serving(home, theirs, *options) as process:
        read_until(ours, "serving" if options else "serve.log\r\n")
        os.close(ours)
    assert (0, False) == (process.returncode, is_left(home))


@pytest.mark.exhaustive
def test_sigterm_while_it_starts_leaves_no_database_behind(home: Path) -> None:
    ours, theirs = pty.openpty()
    with serving(home, theirs) as process:
        while not is_left(home):
            assert process.poll() is None
            time.sleep(0.01)
        process.terminate()
    os.close(ours)
    # 0 if it serves already when its turn comes.
    assert process.returncode in (0, 128 + signal.SIGTERM)
    assert not is_left(home)


@pytest.mark.exhaustive
def test_signals_while_its_database_is_being_stopped_change_nothing(home: Path) -> None:
    ours, theirs = pty.openpty()
    with serving(home, theirs, "--json") as process:
        read_until(ours, "serving")
        while process.poll() is None:
            process.terminate()
            time.sleep(0.02)
    os.close(ours)
    # The last one may come when all is done.
    assert process.returncode in (0, -signal.SIGTERM)
    assert not is_left(home)
