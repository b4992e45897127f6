import io
import os
import pty
import subprocess
import sys

import pytest

from kernelbot.catalog.skeleton import new_problem
from kernelbot.cli.terminal import Terminal, coloured
from kernelbot.protocol import Lang
from tests.support.exhaustive import few
from tests.support.terminal import COMMAND, Shell


def on_a_terminal(shell: Shell, *arguments: str) -> str:
    """What a command shows on a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=shell.home, env=shell.environment, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 1 << 16):
            shown += piece
    except OSError:  # what a terminal says when nobody writes to it any more
        pass
    os.close(ours)
    assert 0 == process.wait(timeout=60)
    return shown.decode()


# Each run has test_a_line_has_its_style_to_its_end_also_where_it_is_wrapped
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("more", "coloured"),
    few([({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False)], 1),
)
def test_colour_is_for_terminals(shell: Shell, more: dict[str, str], coloured: bool) -> None:
    new_problem(shell.home / "sums", "sums", Lang.PY)
    shown = on_a_terminal(
        Shell(shell.home, more), "run", "sums", "sums/submission.py", "--mode", "test"
    )
    assert coloured == ("\x1b[32m✓\x1b[0m accepted: sums" in shown)


@pytest.mark.exhaustive
def test_a_pipe_stays_plain(shell: Shell) -> None:
    new_problem(shell.home / "sums", "sums", Lang.PY)
    said = Shell(shell.home, {"TERM": "xterm"})("run", "sums", "sums/submission.py")
    assert "\x1b" not in said.out + said.err


# Each run has test_a_line_has_its_style_to_its_end_also_where_it_is_wrapped
@pytest.mark.exhaustive
def test_a_character_that_the_stream_lacks_is_replaced(shell: Shell) -> None:
    new_problem(shell.home / "sums", "sums", Lang.PY)
    more = {"PYTHONIOENCODING": "ascii"}
    said = Shell(shell.home, more)("run", "sums", "sums/submission.py")
    assert (0, "? accepted: sums, mode test, on CPU") == (said.code, said.out.splitlines()[-1])


class TerminalText(io.StringIO):
    """What goes to a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.exhaustive
def test_many_empty_lines_hold_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = TerminalText()
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.delenv("NO_COLOR", raising=False)
    Terminal(as_json=False).show("\n" * 200_000 + "✓ done")  # weighed one by one: minutes
    assert "\x1b[32m" in shown.getvalue()


def test_a_line_has_its_style_to_its_end_also_where_it_is_wrapped() -> None:
    found = coloured("Score 2 µs on secret data\n✓ Score\nNote: a b", 14)
    assert ["Score 2 µs on", "  secret data", "✓ Score", "Note: a b"] == found.plain.splitlines()
    styles = {found.plain[span.start : span.end]: span.style for span in found.spans}
    assert {"Score 2 µs on\n  secret data": "bold", "✓": "green", "Note: a b": "dim"} == styles


@pytest.mark.parametrize(
    ("stream", "expected"),
    [(io.StringIO, "a\r\n\x0cb\x1b[2J\r\n"), (TerminalText, "a\n\\x0cb\\x1b[2J\n")],
    ids=["elsewhere", "on a terminal"],
)
def test_a_file_is_written_as_it_is_unless_a_terminal_shows_it(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], expected: str
) -> None:
    shown = stream(newline="")
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setenv("NO_COLOR", "1")
    Terminal(as_json=False).show_file("a\r\n\x0cb\x1b[2J\r\n")
    assert expected == shown.getvalue()
