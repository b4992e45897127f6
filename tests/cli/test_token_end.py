"""A token that ends soon: who uses it is told, once a day, and no program is."""

import os
import pty
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kernelbot.cli.errors import INTERRUPTED
from kernelbot.cli.token_end import is_first_today, warning
from tests.support.live import LiveServer
from tests.support.terminal import COMMAND, Shell

NOW = datetime(2026, 11, 29, tzinfo=UTC)
URL = "https://kernels.example.org"


@pytest.mark.parametrize(
    ("days", "says"), [(None, False), (8, False), (7, True), (1, True), (-1, False)]
)
def test_only_what_ends_within_a_week_is_told(days: int | None, says: bool) -> None:
    ends_at = None if days is None else NOW + timedelta(days=days)
    assert says == bool(warning(URL, ends_at, NOW))


def test_a_server_is_asked_once_a_day(tmp_path: Path) -> None:
    path = tmp_path / "new" / "token-ends.json"
    days = (NOW, NOW + timedelta(hours=23), NOW + timedelta(days=1))
    assert [True, False, True] == [is_first_today(URL, day, path) for day in days]
    assert is_first_today("http://127.0.0.1:8000", NOW, path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"https://kernels.example.org": 3}', "\x00"])
def test_what_others_wrote_there_is_no_answer(tmp_path: Path, content: str) -> None:
    path = tmp_path / "token-ends.json"
    path.write_text(content)
    assert [True, False] == [is_first_today(URL, NOW, path) for _ in range(2)]


def test_where_nothing_can_be_noted_nothing_is_asked(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not is_first_today(URL, NOW, tmp_path / "file" / "token-ends.json")


def _on_a_terminal(shell: Shell, *words: str) -> str:
    """What the command writes to stderr, which is a terminal."""
    return _run_on_a_terminal(shell, [*COMMAND, *words], 0)


def _run_on_a_terminal(shell: Shell, command: list[str], expected: int) -> str:
    """The same of any program, whose exit code is as expected."""
    ours, theirs = pty.openpty()
    environment = {**shell.environment, "NO_COLOR": "1", "COLUMNS": "500"}
    process = subprocess.Popen(
        command,
        cwd=shell.home,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 1 << 16):
            shown += piece
    except OSError:  # nobody writes to the terminal any more
        pass
    os.close(ours)
    assert expected == process.wait(timeout=60)
    return shown.decode()


@pytest.mark.exhaustive  # each run has test_whoami_and_the_list_say_when_it_ends
def test_a_terminal_tells_once_and_a_program_is_never_told(
    live: LiveServer, ada: Shell, tmp_path: Path
) -> None:
    made = ada("token", "create", "ci", "--days", "4", "--json").document
    shell = Shell(tmp_path, {"KERNELBOT_URL": live.url, "KERNELBOT_TOKEN": made["token"]})
    day = datetime.now(UTC).date()
    silent = shell("board", "list").err + _on_a_terminal(shell, "board", "list", "--json")
    told = [_on_a_terminal(shell, "board", "list") for _ in range(2)]
    is_another_day = day != datetime.now(UTC).date()
    assert ("", True) == (silent, not told[1] or is_another_day)
    assert f"! Your token for {live.url} ends in 3 days," in told[0]


@pytest.mark.exhaustive  # each run has test_whoami_and_the_list_say_when_it_ends
@pytest.mark.parametrize(("code", "told"), [(0, True), (1, True), (INTERRUPTED, False)])
def test_so_is_who_follows_a_submission_to_its_exit_code(
    live: LiveServer, ada: Shell, tmp_path: Path, code: int, told: bool
) -> None:
    made = ada("token", "create", "ci", "--days", "4", "--json").document
    shell = Shell(tmp_path, {"KERNELBOT_URL": live.url, "KERNELBOT_TOKEN": made["token"]})
    # Exits are errors, of which the terminal makes exit codes.
    program = f"""
import sys
from kernelbot.cli.declaring import Exit
from kernelbot.cli.session import connect
from kernelbot.cli.terminal import Terminal

try:
    with connect(None, Terminal(False)):
        raise Exit({code})
except Exit as ended:
    sys.exit(ended.exit_code)
"""
    shown = _run_on_a_terminal(shell, [sys.executable, "-c", program], code)
    assert told == ("ends in 3 days," in shown)


def test_whoami_and_the_list_say_when_it_ends(live: LiveServer, ada: Shell, tmp_path: Path) -> None:
    made = ada("token", "create", "ci", "--days", "4", "--json").document
    shell = Shell(tmp_path, {"KERNELBOT_URL": live.url, "KERNELBOT_TOKEN": made["token"]})
    day = made["expires_at"][:10]
    assert f"The token ends in 3 days, on {day}.\n" in shell("whoami").out
    assert made["expires_at"][:19] == shell("whoami", "--json").document["token_expires_at"][:19]
    assert f"{day}, in 3 days" in shell("token", "list").out
    assert (None, False) == (
        ada("whoami", "--json").document["token_expires_at"],
        "ends in" in ada("whoami").out,
    )
