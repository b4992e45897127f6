"""Files of runs in the terminal: of a server's submissions, and of `run`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.protocol import Mode
from tests.support.live import LiveServer, live_server
from tests.support.terminal import Shell
from tests.support.workers import finished, quick_settings, working

pytestmark = pytest.mark.each_run(
    "test_files_are_saved_and_stay_in_the_folder",
    "test_the_list_as_json",
)

ROOT = Path(__file__).parents[2]


async def profiled(live: LiveServer, folder: Path) -> int:
    await live.world.board()
    sent = await live.world.submit(mode=Mode.PROFILE, content=b"# fake: accepted\n")
    async with working(quick_settings(folder), live.world.database.url):
        await finished(live.world, sent.id)
    return sent.id


@pytest.fixture
def ada(database_url: str, tmp_path: Path) -> Iterator[Shell]:
    """A client with a profile as submission 1."""
    with live_server(database_url) as live:
        assert 1 == live.call(profiled(live, tmp_path / "worker"))
        yield Shell(tmp_path, {"KERNELBOT_URL": live.url, "KERNELBOT_TOKEN": live.world.ada.token})


def test_files_are_listed(ada: Shell) -> None:
    said = ada("submission", "artifacts", "1")
    assert (0, ["name", "device", "type", "bytes"]) == (said.code, said.out.split()[:4])
    assert "profile.0.trace.json.gz  CPU     application/gzip      2\n" in said.out


def test_files_are_saved_and_stay_in_the_folder(ada: Shell, tmp_path: Path) -> None:
    said = ada("submission", "artifacts", "1", "--save", "new/profile")
    folder = tmp_path / "new" / "profile"
    assert (0, {"2-_a___echo_x", "_a___echo_x", "profile.0.trace.json.gz", "profile.0.txt"}) == (
        said.code,
        {path.name for path in folder.iterdir()},
    )
    assert b"a table" == (folder / "profile.0.txt").read_bytes()
    assert f"{Path('new/profile/profile.0.txt')}: 7 bytes" in said.out


def test_the_list_as_json(ada: Shell) -> None:
    document = ada("submission", "artifacts", "1", "--json").document
    assert (1, 4) == (document["submission_id"], len(document["artifacts"]))


def test_a_folder_that_cannot_be_made_is_said(ada: Shell, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    said = ada("submission", "artifacts", "1", "--save", "taken")
    assert (2, True) == (said.code, "taken can't be made" in said.err)


def test_a_submission_tells_how_to_get_its_files(ada: Shell) -> None:
    said = ada("submission", "show", "1")
    assert "profile.0.txt:\n    a table" in said.out
    assert "Its files: kernelbot submission artifacts 1 --save FOLDER" in said.out


def test_a_run_without_a_server_leaves_its_files(shell: Shell, tmp_path: Path) -> None:
    problem = str(ROOT / "examples" / "sort_np")
    command = ["run", problem, f"{problem}/submission.py", "--mode", "profile"]
    said = shell(*command, "--artifacts", "out")
    assert 0 == said.code
    assert "Written: out/" in said.out
    names = {path.name.split(".", 2)[2] for path in (tmp_path / "out").iterdir()}
    assert {"txt", "counters.json", "trace.json.gz"} == names
    figures = next((tmp_path / "out").glob("*.counters.json"))
    assert "task-clock" in json.loads(figures.read_text())["counters"]
