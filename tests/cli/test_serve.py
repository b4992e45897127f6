"""Everything at once: a server with its worker and database, and a person before a terminal."""

import itertools
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.catalog.skeleton import new_problem
from kernelbot.protocol import Lang
from tests.support.terminal import Shell
from tests.test_documented_commands import SAMPLING

# Each run has test_an_agent_goes_from_the_boards_to_a_place (agents/test_session.py)
pytestmark = pytest.mark.exhaustive

_STATES = ("waiting in the queue", "running", "accepted")


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    # Not pytest's folder: the embedded database's user must be able to reach it.
    with tempfile.TemporaryDirectory(prefix="kernelbot-test-") as folder:
        home = Path(folder)
        (home / "kernelbot.toml").write_text(SAMPLING)
        new_problem(home / "sums", "sums", Lang.PY)
        yield Shell(home, {})


@pytest.fixture(scope="module")
def server(shell: Shell) -> Iterator[subprocess.Popen[bytes]]:
    with (shell.home / "log").open("wb") as log:
        process = shell.serve("serve", "--port", "0", "--data", "data", log=log)
        try:
            while not list(shell.home.glob(".local/state/kernelbot/servers/*.json")):
                assert process.poll() is None, (shell.home / "log").read_text()
                time.sleep(0.05)
            assert 0 == shell("board", "create", "--from", "sums").code
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            assert 0 == process.wait(timeout=60)


# Each run has test_an_agent_goes_from_the_boards_to_a_place (agents/test_session.py)
@pytest.mark.exhaustive
@pytest.mark.usefixtures("server")
def test_a_ranked_submission_from_the_file_to_its_place(shell: Shell) -> None:
    said = shell("submit", "sums/submission.py", "--board", "sums")
    seen = [line.split("] ")[-1] for line in said.err.splitlines()]
    shown = shell("board", "show", "sums", "--json").document
    assert (0, True, True, ["submission.py"]) == (
        said.code,
        said.out.splitlines()[1].endswith("place 1 on sums"),
        [line for line, _ in itertools.groupby(line for line in seen if line in _STATES)]
        == [*_STATES] * 2,  # on a busy machine it is measured again before it is accepted
        [row["file_name"] for row in shown["standings"]],
    ), said.out


@pytest.mark.usefixtures("server")
def test_a_wrong_answer_shows_the_case_and_what_was_printed(shell: Shell) -> None:
    (shell.home / "wrong.py").write_text("def custom_kernel(data):\n    print('hm')\n")
    said = shell("submit", "wrong.py", "--board", "sums", "--mode", "test")
    assert (1, True, True) == (
        said.code,
        "The output is None" in said.out,
        "What the program printed:\n  hm" in said.out,
    )


@pytest.mark.usefixtures("server")
@pytest.mark.exhaustive
def test_a_secret_run_shows_its_times_and_nothing_of_the_data(shell: Shell) -> None:
    token = shell("user", "create", "eve", "--json").document["token"]
    eve = Shell(shell.home, {"KERNELBOT_TOKEN": token})
    said = eve("submit", "sums/submission.py", "--board", "sums", "--json")
    secret = next(run for run in said.document["runs"] if run["secret"])
    timed = secret["result"]["phases"]["leaderboard"]["workloads"]
    assert (0, "accepted", ["size: 65536", "size: 262144"]) == (
        said.code,
        secret["verdict"],
        [load["spec"] for load in timed],
    )
    assert (["leaderboard"], "", "", []) == (
        list(secret["result"]["phases"]),
        *(secret["result"][key] for key in ("stdout", "stderr", "artifacts")),
    )


@pytest.mark.exhaustive  # each run has test_a_backup_comes_back_elsewhere (test_backup.py)
@pytest.mark.usefixtures("server")
def test_a_backup_is_of_the_server_that_runs(shell: Shell) -> None:
    kept = shell("backup", "all.dump", "--json").document
    refused = shell("restore", "all.dump", "--force", "--json").document["error"]
    command = f"kernelbot restore all.dump --data {kept['data']} --force"
    assert (str((shell.home / "data").resolve()), "conflict", True) == (
        kept["data"],
        refused["code"],
        command in refused["hint"],
    )


@pytest.mark.usefixtures("server")
@pytest.mark.exhaustive
def test_a_second_server_on_the_same_data_says_so(shell: Shell) -> None:
    said = shell("serve", "--port", "0", "--data", "data", "--json")
    assert (2, "conflict") == (said.code, said.document["error"]["code"])
