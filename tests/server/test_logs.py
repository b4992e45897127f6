import json
import logging
import os
import pty
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
import structlog

from kernelbot.server.logs import away_from_a_terminal, set_up_logs
from tests.support.terminal import read_until

LOGGING = """\
import subprocess, sys
from pathlib import Path
import structlog
from kernelbot.server.logs import away_from_a_terminal, set_up_logs
try:
    with away_from_a_terminal(Path(sys.argv[1])) as file:
        set_up_logs()
        structlog.get_logger().info("mine")
        subprocess.run(["sh", "-c", "echo of a child >&2"])
        print("shown", file, flush=True)
        raise ValueError
except ValueError:
    print("again on the terminal", file=sys.stderr)
"""


def test_nothing_that_strangers_say_reaches_the_terminal_as_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    set_up_logs(json=False)
    log, clear = structlog.get_logger(), "\x1b[2J"
    log.info("request", path="/\x1b]0;mine\x07")
    try:
        raise ValueError(clear)
    except ValueError as error:
        log.error("request_crashed", exc_info=error)
    logging.getLogger("elsewhere").warning(clear)
    shown = capsys.readouterr().err
    assert "/\\x1b]0;mine\\x07" in shown
    assert 2 == shown.count("\\x1b[2J")
    assert not any(raw in shown for raw in ("\x1b]", "\x07", "\x1b[2J"))


def test_lines_that_repeat_are_left_out_and_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    set_up_logs(json=True)
    log, other = structlog.get_logger(), logging.getLogger("asyncio")
    for number in range(1000):
        log.error("postgres_is_down", error=f"number {number}")
        other.error("socket.accept() out of system resource")
    now_s = 60.0
    log.error("postgres_is_down")
    other.error("socket.accept() out of system resource")
    lines = capsys.readouterr().err.splitlines()
    assert 2 * 20 + 2 == len(lines)
    assert 980 == json.loads(lines[-2])["left_out_before"]
    assert "(980 such lines were left out before)" in lines[-1]


def test_lines_about_requests_are_all_written(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs(json=True)
    log = structlog.get_logger()
    for _ in range(1000):
        log.info("request", path="/health")
    assert 1000 == len(capsys.readouterr().err.splitlines())


def on_a_terminal(file: Path, stdout: Path | None = None) -> str:
    """What a terminal shows of the program, of stdout as well unless that is a file."""
    ours, theirs = pty.openpty()
    with ExitStack() as stack:
        process = subprocess.Popen(
            [sys.executable, "-c", LOGGING, str(file)],
            stdout=stack.enter_context(stdout.open("w")) if stdout else theirs,
            stderr=theirs,
        )
    os.close(theirs)
    shown = read_until(ours, None)
    os.close(ours)
    assert 0 == process.wait()
    return shown.replace("\r\n", "\n")


def test_on_a_terminal_logs_go_to_a_file_and_errors_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "serve.log"
    file.write_text("the time before")
    assert f"shown {file}\nagain on the terminal\n" == on_a_terminal(file)
    first, second = file.read_text().splitlines()
    assert ("mine", "of a child", 0o600, "the time before") == (
        json.loads(first)["event"],
        second,
        file.stat().st_mode & 0o777,
        (tmp_path / "serve.log.1").read_text(),
    )


@pytest.mark.parametrize("is_there", [False, True])
def test_a_link_in_the_place_of_the_log_is_not_followed(tmp_path: Path, *, is_there: bool) -> None:
    file, elsewhere = tmp_path / "serve.log", tmp_path / "elsewhere"
    if is_there:
        elsewhere.write_text("somebody's")
    file.symlink_to(elsewhere)
    on_a_terminal(file)
    said = elsewhere.read_text() if elsewhere.exists() else None
    assert (False, "somebody's" if is_there else None) == (file.is_symlink(), said)


def test_logs_stay_on_a_terminal_if_stdout_is_elsewhere(tmp_path: Path) -> None:
    stdout = tmp_path / "stdout"
    shown = on_a_terminal(tmp_path / "serve.log", stdout)
    assert ("shown None\n", [stdout]) == (stdout.read_text(), list(tmp_path.iterdir()))
    assert [True, True, True] == [
        text in shown for text in ("mine", "of a child\n", "again on the terminal\n")
    ]


def test_elsewhere_logs_stay_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with away_from_a_terminal(tmp_path / "serve.log") as file:
        set_up_logs()
        structlog.get_logger().info("mine")
    assert (None, [], "mine") == (
        file,
        list(tmp_path.iterdir()),
        json.loads(capsys.readouterr().err)["event"],
    )
