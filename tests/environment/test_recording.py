"""Records of episodes: what is in them, and what becomes of them when writing fails."""

import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from kernelbot import __version__
from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import UserError
from kernelbot.environment.held_out import HeldOutSecret
from kernelbot.environment.messages import SourceKind
from kernelbot.environment.recording import Recorder, RecordNote, schema
from kernelbot.environment.settings import HeldOut
from kernelbot.environment.steps import EpisodeStep, HeldOutResult, JudgedAttempt
from kernelbot.environment.tasks import Division, Task, TaskSet
from kernelbot.protocol import Verdict
from tests.environment.examples import EXAMPLES
from tests.environment.wire import Served
from tests.library.sources import RIGHT, WRONG

WHEN = datetime(2027, 1, 31, 12, tzinfo=UTC)
NOTE = RecordNote(HeldOut.DATA, (1 << 128) - 1, Division(0.25, 7))
KILLED = """
import os, sys
from pathlib import Path
import pyarrow.parquet as parquet
from kernelbot.environment import recording
writes = parquet.write_table
def die(table, opened, **how):
    writes(table, opened, **how)
    opened.flush()
    os._exit(9)
parquet.write_table = die
recording._write(Path(sys.argv[1]), "x", [])
"""
"""Ends a process between the last byte and the name."""


def task() -> Task:
    problem = load_problem(EXAMPLES / "sort_np")
    return TaskSet([("sort_np", problem)], Division(), HeldOut.NOTHING, HeldOutSecret()).named(
        "sort_np"
    )


class Ended:
    """An episode of three steps, none of them judged."""

    id = "../../etc/a name"
    seed = 7
    began_at = WHEN
    held_out: HeldOutResult | None = HeldOutResult(
        verdict=Verdict.ACCEPTED, reward=2.0, score_s=0.5
    )
    is_done = True
    unconfirmed = 0.0

    def __init__(self) -> None:
        self.task = task()
        self.steps = [
            EpisodeStep(
                JudgedAttempt(text, "no\0 code", reward=0.0),
                SourceKind.DIFF,
                paid,
                last,
                WHEN,
                0.25,
            )
            for text, paid, last in (("a", 0.0, False), ("\0é", None, False), ("c", 2.0, True))
        ]


def rows(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for file in sorted(folder.glob("*.parquet")):
        found += pyarrow.parquet.read_table(file).to_pylist()
    return found


async def test_an_episode_is_one_row_group_of_a_file_of_its_own(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "new", NOTE)
    await recorder.write(Ended())
    await recorder.write(Ended())
    files = sorted((tmp_path / "new").glob("*.parquet"))
    (note,) = set((tmp_path / "new").iterdir()) - set(files)
    assert (2, True) == (len(files), note.name.endswith(".secret.json"))
    read = pyarrow.parquet.ParquetFile(files[0])
    assert (1, 3) == (read.num_row_groups, read.metadata.num_rows)
    assert schema() == read.schema_arrow
    first, second, last = rows(tmp_path / "new")[:3]
    assert ("../../etc/a name", "sort_np", "train", 7, "done", 1, "diff", "a", "no\0 code") == (
        *(first[name] for name in ("episode_id", "task", "split", "seed", "ending")),
        *(first[name] for name in ("attempt", "kind", "source", "refusal")),
    )
    assert (None, None, None, False) == (
        *(first[name] for name in ("verdict", "report", "held_out_reward", "done")),
    )
    assert ("\0é", None) == (second["source"], second["reward"])
    assert (3, 2.0, True, "accepted", 0.5) == (
        *(last[name] for name in ("attempt", "reward", "done")),
        *(last[name] for name in ("held_out_verdict", "held_out_score_s")),
    )
    assert (WHEN, 0.25) == (last["began_at"], last["duration_s"])


async def test_what_judges_an_episode_again_is_beside_its_record_for_one_account(
    tmp_path: Path,
) -> None:
    await Recorder(tmp_path, NOTE).write(Ended())
    note = tmp_path / f"{rows(tmp_path)[0]['server']}.secret.json"
    assert 0o600 == note.stat().st_mode & 0o777
    assert {
        "version": __version__,
        "held_out": "data",
        "held_out_seed": "340282366920938463463374607431768211455",
        "test_share": 0.25,
        "split_seed": 7,
    } == json.loads(note.read_text())


async def test_what_an_abandoned_episode_was_paid_in_advance_is_in_its_last_row(
    tmp_path: Path,
) -> None:
    abandoned = Ended()
    abandoned.is_done, abandoned.unconfirmed = False, 2.0
    await Recorder(tmp_path, NOTE).write(abandoned)
    assert [None, None, 2.0] == [row["unconfirmed"] for row in rows(tmp_path)]


async def test_so_is_what_the_end_could_not_confirm(tmp_path: Path) -> None:
    lost = Ended()
    lost.unconfirmed = 2.0
    lost.held_out = HeldOutResult(verdict=Verdict.INTERNAL_ERROR, reward=None, score_s=None)
    await Recorder(tmp_path, NOTE).write(lost)
    assert [None, None, 2.0] == [row["unconfirmed"] for row in rows(tmp_path)]


@pytest.mark.exhaustive  # each run has test_an_episode_is_one_row_group_of_a_file_of_its_own
def test_a_process_that_is_killed_leaves_no_file_that_is_read(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert 9 == done.returncode
    assert [".x.part"] == [file.name for file in tmp_path.iterdir()]
    assert [] == rows(tmp_path)


async def test_a_record_that_cannot_be_written_is_said_and_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "gone"
    recorder = Recorder(folder, NOTE)
    shutil.rmtree(folder)
    await recorder.write(Ended())
    assert ["An episode wasn't recorded"] == [
        record.message.partition(":")[0] for record in caplog.records
    ]


def test_a_folder_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="can't be written"):
        Recorder(tmp_path / "file" / "x", NOTE)


@pytest.mark.exhaustive  # each run has test_an_episode_is_one_row_group_of_a_file_of_its_own
def test_episodes_of_a_server_are_recorded_with_their_reports(
    server: Served, records: Path
) -> None:
    with server.talk() as talk:
        talk.reset(episode_id="done", seed=1)
        talk.step(WRONG)
        talk.step(RIGHT)
        talk.reset(episode_id="abandoned")
        talk.step(WRONG)
        talk.reset(episode_id="never began")
    found = {row["episode_id"]: row for row in rows(records)}
    assert {"done": "done", "abandoned": "abandoned"} == {
        name: row["ending"] for name, row in found.items()
    }
    last = found["done"]
    assert ("accepted", 1.0, 1.0, RIGHT, 1) == (
        *(last[name] for name in ("verdict", "reward", "passed_share", "source", "seed")),
    )
    assert "accepted" == json.loads(last["report"])["verdict"]
