import json
import logging
import time

import pytest
import structlog

from kernelbot.server.logs import set_up_logs


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
