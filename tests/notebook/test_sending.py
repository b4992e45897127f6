"""A cell that is sent to a server with a worker."""

from collections.abc import Iterator

import pytest
from nbclient.exceptions import CellExecutionError

from kernelbot.harness.timing.turns import VARIABLE
from tests.notebook.kernels import Run, kernel, shown
from tests.support.terminal import Shell
from tests.test_documented_commands import running_server, shell_in_a_folder

RIGHT = "import numpy as np\n\n\ndef custom_kernel(data):\n    return np.sort(data)\n"


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with shell_in_a_folder() as plain:
        shell = Shell(plain.home, {**plain.more, VARIABLE: ""})
        with running_server(shell):
            assert 0 == shell("board", "create", "--from", "examples/sort_np").code
            yield shell


@pytest.fixture(scope="module")
def run(shell: Shell) -> Iterator[Run]:
    with kernel(shell.home, shell.environment) as run:
        yield run


@pytest.mark.exhaustive
def test_a_cell_is_ranked_if_its_author_says_so(run: Run) -> None:
    found = shown(run(f"%%kernelbot --board sort_np --mode leaderboard --into sent\n{RIGHT}"))
    (said,) = run("print(sent.verdict, sent.place, sent.file_name)")
    assert (True, True, True, "accepted 1 submission.py\n") == (
        "place 1 on sort_np" in found["text/html"],
        "<table>" in found["text/html"],
        "/submission/1" in found["text/plain"],
        said["text"],
    )


@pytest.mark.exhaustive
def test_a_refused_cell_names_its_line_and_a_directive_its_board(run: Run) -> None:
    wrong = f"#!POPCORN leaderboard sort_np\n{RIGHT.replace('np.sort', 'nq.sort')}"
    found = shown(run(f"%%kernelbot --mode test\n{wrong}"))
    assert "line 7 of the cell (6 of the file): error: NameError" in found["text/plain"]


@pytest.mark.exhaustive
def test_a_board_that_is_not_there_is_a_sentence(run: Run) -> None:
    with pytest.raises(CellExecutionError, match="Did you mean sort_np"):
        run(f"%%kernelbot --board sort_n\n{RIGHT}")
