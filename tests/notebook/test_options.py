"""The line of `%%kernelbot`."""

from pathlib import Path

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.notebook.options import CellOptions, read_line
from kernelbot.protocol import Mode


def test_a_folder_is_judged_here_and_nothing_is_ranked_unasked() -> None:
    assert CellOptions(Path("examples/sort_np"), "", Mode.BENCHMARK) == read_line(
        "examples/sort_np", ""
    )


def test_the_options_are_those_of_a_terminal() -> None:
    line = "-b 'a board' -m leaderboard -d H100 --device T4 --into found --url http://x"
    expected = CellOptions(
        None, "a board", Mode.LEADERBOARD, ("H100", "T4"), False, "found", "http://x"
    )
    assert expected == read_line(line, "")


def test_a_source_may_name_its_board() -> None:
    found = read_line("--mode test", "# mine\n#!POPCORN leaderboard sort_np\n")
    assert CellOptions(None, "sort_np", Mode.TEST) == found


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "what the cell is to solve"),
        ("a --board b", "not both"),
        ("a -d x -d y", "one device"),
        ("--board b --baseline", "has its standings"),
        ("a --mode fast", "fast"),
        ("a --nope", "nope"),
        ("a b", "b"),
        ("a 'b", "quotation"),
        ("a --into 'not a name'", "variable's name"),
        ("a --into 'x; import os'", "variable's name"),
    ],
)
def test_what_makes_no_sense_is_refused(line: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_line(line, "")


def test_help_is_printed_and_nothing_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    assert read_line("--help", "") is None
    shown = capsys.readouterr().out
    assert all(option in shown for option in ("--board", "--baseline", "%%kernelbot examples"))
