"""`submit` without a board, on a terminal: a person is asked, and a script never."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.support.live import LiveServer
from tests.support.terminal import COMMAND, Shell

pytestmark = pytest.mark.each_run(
    "test_a_person_chooses_by_number_or_name",
    "test_who_gives_up_sends_nothing",
)


@pytest.fixture(autouse=True)
def boards(live: LiveServer) -> None:
    """The newest comes first."""
    live.call(live.world.board("merge"))
    live.call(live.world.board("sort", devices=("CPU", "H100")))


def asked(shell: Shell, answers: str, *arguments: str) -> tuple[int, str]:
    """The exit code, and all that the terminal showed, while somebody types."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "submit", "fast.py", "--no-wait", *arguments],
        cwd=shell.home,
        env={**shell.environment, "NO_COLOR": "1"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    os.write(ours, answers.encode())
    shown = b""
    try:
        while piece := os.read(ours, 1 << 16):
            shown += piece
    except OSError:  # nobody writes to the terminal any more
        pass
    os.close(ours)
    return process.wait(timeout=60), shown.decode().replace("\r\n", "\n")


def test_a_person_chooses_by_number_or_name(ada: Shell) -> None:
    code, shown = asked(ada, "nonsense\nsort\n2\ntest\n")
    assert (0, True) == (code, "There is none of that name: sort, merge." in shown)
    assert "To send it there unasked: --board sort --device H100 --mode test" in shown
    sent = ada("submission", "show", "1", "--json").document
    assert ("sort", "test", ["H100"]) == (
        sent["board"],
        sent["mode"],
        [run["device"] for run in sent["runs"]],
    )


def test_only_what_is_open_is_asked_for(ada: Shell) -> None:
    """The board has one device, and the mode is given."""
    code, shown = asked(ada, "2\n", "--mode", "benchmark")
    assert (0, True, False) == (code, "--board merge --mode benchmark" in shown, "Device" in shown)


def test_a_file_that_names_its_board_is_sent_there(ada: Shell, tmp_path: Path) -> None:
    file = tmp_path / "fast.py"
    file.write_text("#!POPCORN leaderboard merge\n" + file.read_text())
    code, shown = asked(ada, "")
    assert (0, False) == (code, "Board (number or name)" in shown)


def test_who_gives_up_sends_nothing(ada: Shell) -> None:
    code, shown = asked(ada, "\x04")
    assert (130, False, []) == (
        code,
        "Traceback" in shown,
        ada("submission", "list", "--json").document["submissions"],
    )


def test_a_script_is_not_asked(ada: Shell) -> None:
    said = ada("submit", "fast.py")
    assert (2, False) == (said.code, "Board (number or name)" in said.err)
