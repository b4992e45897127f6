"""What a shell offers, as it asks for it."""

import pytest

from tests.support.live import LiveServer
from tests.support.terminal import Shell


def offered(shell: Shell, line: str) -> list[str]:
    """What bash offers for the last word of the line."""
    asking = {
        "_KERNELBOT_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    return Shell(shell.home, {**shell.more, **asking})().out.split()


@pytest.fixture(autouse=True)
def sent(live: LiveServer) -> None:
    live.call(live.world.board("merge"))
    live.call(live.world.board("sort", devices=("CPU", "H100")))
    live.call(live.world.submit(board="merge"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kernelbot submit fast.py --board s", ["sort"]),
        ("kernelbot board show ", ["sort", "merge"]),
        ("kernelbot submit fast.py --device H", ["H100"]),
        ("kernelbot submission show ", ["1"]),
        ("kernelbot submission pull 2", []),
    ],
)
def test_names_and_numbers_are_offered(ada: Shell, line: str, expected: list[str]) -> None:
    assert expected == offered(ada, line)


def test_nothing_is_said_if_the_server_is_gone(shell: Shell) -> None:
    gone = Shell(shell.home, {"KERNELBOT_URL": "http://127.0.0.1:9", "KERNELBOT_TOKEN": "kb_x"})
    assert [] == offered(gone, "kernelbot board show ")


def test_suites_are_offered(shell: Shell) -> None:
    assert ["kernelbench"] == offered(shell, "kernelbot problem import kernelb")


def test_names_of_commands_are_offered_without_loading_them(shell: Shell) -> None:
    assert ["submit", "submission"] == offered(shell, "kernelbot sub")
    assert ["dev", "devices"] == offered(shell, "kernelbot dev")
    assert {"show", "list"} <= set(offered(shell, "kernelbot board "))
