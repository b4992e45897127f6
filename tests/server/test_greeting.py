"""What `kernelbot serve` prints on a terminal."""

import os
import pty
import secrets
import sys
from pathlib import Path

import pytest

from kernelbot.server.serve import greeting_text, show


def test_the_link_and_the_next_step_are_shown() -> None:
    text = greeting_text("root", "http://x:8000", "/auth/open?link=s", has_boards=True)
    assert [
        "KernelBot serves at http://x:8000",
        "  Log in as root, once within 10 minutes:",
        "http://x:8000/auth/open?link=s",
        "  Another link, later: kernelbot open",
        "  Next: kernelbot submit FILE --board BOARD",
    ] == text.strip("\n").splitlines()


def test_the_link_fits_80_columns() -> None:
    path = f"/auth/open?link={secrets.token_urlsafe(32)}"
    text = greeting_text("root", "http://127.0.0.1:8000", path, has_boards=True)
    assert [] == [line for line in text.splitlines() if len(line) > 80]


def test_without_a_board_the_next_step_is_one() -> None:
    text = greeting_text("a\x1b[2J", "http://x", "/", has_boards=False)
    assert ("Next: kernelbot board create" in text, "\x1b" in text) == (True, False)


def test_the_log_s_file_is_said_once() -> None:
    file = Path("/data/a\x1b[2J/serve.log")
    text = greeting_text("a", "http://x", "/", has_boards=True, log_file=file)
    assert (["  Log: /data/a\\x1b[2J/serve.log"], False) == (
        [line for line in text.splitlines() if "Log:" in line],
        "\x1b" in text,
    )


def test_a_terminal_that_is_closed_meanwhile_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    terminal = os.fdopen(theirs, "w", buffering=1)
    monkeypatch.setattr(sys, "stdout", terminal)
    os.close(ours)
    show("Next: a board")
    with pytest.raises(OSError, match="Input/output error"):
        terminal.close()  # it was written there
