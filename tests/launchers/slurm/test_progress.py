import base64
import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.launchers.slurm import SlurmLauncher, progress
from kernelbot.launchers.slurm.progress import MOST_JOBS, ProgressFiles
from kernelbot.protocol import EventKind, ProgressEvent, to_wire
from tests.launchers.slurm.test_bad_answers import between
from tests.launchers.stages import slurm_settings


def line(index: int) -> str:
    return json.dumps(to_wire(ProgressEvent(EventKind.CASE, index=index))) + "\n"


class Node:
    """Jobs' folders, and what fetches from them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.progress = ProgressFiles()

    def write(self, attempt: str, text: str) -> None:
        (self.folder / attempt).mkdir(exist_ok=True)
        with (self.folder / attempt / "events.jsonl").open("a") as file:
            file.write(text)

    def fetch(self, *attempts: str) -> dict[str, list[int | None]]:
        command = self.progress.command(attempts, str(self.folder))
        answer = subprocess.run(command, capture_output=True, check=True).stdout
        found = self.progress.take(answer)
        return {attempt: [event.index for event in events] for attempt, events in found.items()}


def test_each_event_is_told_once(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.progress.begin("1.1.a")
    node.write("1.1.a", line(1) + line(2))
    first = node.fetch("1.1.a")
    node.write("1.1.a", line(3))
    assert (first, node.fetch("1.1.a"), node.fetch("1.1.a")) == (
        {"1.1.a": [1, 2]},
        {"1.1.a": [3]},
        {},
    )


def test_many_jobs_are_told_apart(tmp_path: Path) -> None:
    node = Node(tmp_path)
    for number in range(3):
        node.progress.begin(f"{number}.1.a")
    node.write("0.1.a", line(0))
    node.write("2.1.a", line(2))
    assert node.fetch("0.1.a", "1.1.a", "2.1.a") == {"0.1.a": [0], "2.1.a": [2]}


@pytest.mark.exhaustive  # each run has test_no_job_speaks_for_another
async def test_progress_of_many_jobs_takes_several_commands(tmp_path: Path) -> None:
    """What one command is given, and what it answers, is bounded."""
    prefix = between(tmp_path, "sh", f'echo >> {tmp_path}/commands; exec "$@"')
    settings = slurm_settings(tmp_path / "work", prefix=prefix)
    launcher = SlurmLauncher(settings, tmp_path / "node.pyz")
    attempts = [f"{number}.1.a" for number in range(2 * MOST_JOBS + 1)]
    jobs = tmp_path / "work" / "jobs"
    jobs.mkdir(parents=True)
    node = Node(jobs)
    for attempt in (attempts[0], attempts[-1]):
        launcher._progress.begin(attempt)
        node.write(attempt, line(1))
    found = await launcher._news(attempts)
    commands = (tmp_path / "commands").read_text().splitlines()
    assert ({attempts[0], attempts[-1]}, 3) == (set(found), len(commands))


def test_a_node_that_tells_without_an_end_is_not_heard_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_MOST_BYTES", len(line(1)) + 1)
    node = Node(tmp_path)
    node.progress.begin("1.1.a")
    for _ in range(3):
        node.write("1.1.a", line(1))
        node.fetch("1.1.a")
    node.progress.begin("2.1.a")
    for attempt in ("1.1.a", "2.1.a"):
        node.write(attempt, line(2))
    assert {"2.1.a": [2]} == node.fetch("1.1.a", "2.1.a")


def test_half_a_line_is_waited_for(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.progress.begin("1.1.a")
    text = line(1)
    node.write("1.1.a", text[:10])
    before = node.fetch("1.1.a")
    node.write("1.1.a", text[10:])
    assert (before, node.fetch("1.1.a")) == ({}, {"1.1.a": [1]})


def test_what_another_process_was_told_is_not_told_again(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.write("1.1.a", line(1))
    first = node.fetch("1.1.a")
    node.write("1.1.a", line(2))
    assert (first, node.fetch("1.1.a")) == ({"1.1.a": []}, {"1.1.a": [2]})


def test_what_is_no_event_is_left_out(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.progress.begin("1.1.a")
    node.write("1.1.a", "<html>\n" + "[" * 40_000 + "\n" + line(1) + "\x00\n{}\n")
    assert node.fetch("1.1.a") == {"1.1.a": [1]}


def test_a_line_that_never_ends_holds_up_nothing(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.progress.begin("1.1.a")
    node.write("1.1.a", "x" * 100_000 + "\n" + line(1))
    assert [{"1.1.a": []}, {"1.1.a": []}, {"1.1.a": [1]}] == [node.fetch("1.1.a") for _ in range(3)]


@pytest.mark.parametrize(
    "before",
    [
        "\n== {folder}/2.1.b\n",
        "== {folder}/2.1.b\n",
        "\n2.1.b ",
        f"\n2.1.b {base64.b64encode(line(7).encode()).decode()}\n",
        "\x00\n\r\n== 2.1.b\r\n",
    ],
)
def test_no_job_speaks_for_another(tmp_path: Path, before: str) -> None:
    node = Node(tmp_path)
    for attempt in ("1.1.a", "2.1.b"):
        node.progress.begin(attempt)
    node.write("1.1.a", before.format(folder=tmp_path) + line(1))
    node.write("2.1.b", line(2))
    found = node.fetch("1.1.a", "2.1.b")
    assert [2] == found["2.1.b"]
    assert set(found["1.1.a"]) <= {1}


@given(st.binary(max_size=2000))
def test_any_answer_is_survived(answer: bytes) -> None:
    ProgressFiles().take(answer)
