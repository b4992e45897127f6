"""Episodes as Parquet, one file and one row group each: complete, or not there."""

import asyncio
import json
import logging
import os
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from kernelbot import __version__
from kernelbot.domain.errors import UserError
from kernelbot.environment.settings import HeldOut
from kernelbot.environment.steps import EpisodeStep, HeldOutResult
from kernelbot.environment.tasks import Division, Task
from kernelbot.library.reports import Report
from kernelbot.platform.distribution import checkout_command
from kernelbot.protocol.os_errors import in_words

VERSION = 1
"""The schema's; a column is added without another one."""
_DRAFT = ".part"
log = logging.getLogger(__name__)


class EpisodeEnding(StrEnum):
    """How an episode ended."""

    DONE = "done"
    ABANDONED = "abandoned"
    """Its session ended, or began another one."""


class Recorded(Protocol):
    """What is recorded of an episode."""

    id: str
    task: Task
    seed: int
    began_at: datetime
    held_out: HeldOutResult | None
    steps: list[EpisodeStep]

    @property
    def is_done(self) -> bool: ...

    @property
    def unconfirmed(self) -> float: ...


@dataclass(frozen=True)
class RecordNote:
    """What judging a server's episodes again needs, beside its problems."""

    held_out: HeldOut
    held_out_seed: int = field(repr=False)
    division: Division

    def text(self) -> str:
        """JSON; the seed is a text, since it is larger than what many programs read as a number."""
        return json.dumps(
            {
                "version": __version__,
                "held_out": self.held_out,
                "held_out_seed": str(self.held_out_seed),
                "test_share": self.division.test_share,
                "split_seed": self.division.seed,
            }
        )


class Recorder:
    """Writes into one folder. Several servers may write into the same."""

    def __init__(self, folder: Path, note: RecordNote) -> None:
        """Make the folder, and write the note beside the records, for this account alone. Raises
        `UserError` if nothing can be written there, or pyarrow isn't installed."""
        try:
            import pyarrow.parquet  # noqa: F401  (asked for now, and not after the first episode)
        except ImportError:
            raise UserError(
                "Recording needs pyarrow, which isn't installed.",
                hint=f"Install the extra: {checkout_command('export')}.",
            ) from None
        self._folder = folder
        self._server = secrets.token_hex(8)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{self._server}.secret.json"
            path.touch(mode=0o600, exist_ok=False)
            path.write_text(note.text() + "\n")
        except OSError as error:
            raise UserError(f"{folder} can't be written: {in_words(error)}.") from None

    async def write(self, episode: Recorded) -> None:
        """Record an episode that is over. What can't be written is logged: the episode counts
        nevertheless."""
        rows = _rows(episode, self._server)
        began = episode.began_at.strftime("%Y%m%dT%H%M%S")
        name = f"{began}-{secrets.token_hex(8)}"  # an episode's id is its client's, and no file's
        try:
            await asyncio.to_thread(_write, self._folder, name, rows)
        except OSError as error:
            log.error("An episode wasn't recorded: %s", in_words(error))


def _write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.Table.from_pylist(rows, schema=schema())
    draft = folder / f".{name}{_DRAFT}"
    try:
        with draft.open("xb") as opened:
            pyarrow.parquet.write_table(
                table, opened, compression="zstd", row_group_size=max(1, len(rows))
            )
            opened.flush()
            os.fsync(opened.fileno())
        draft.rename(folder / f"{name}.parquet")
        _sync(folder)
    finally:
        draft.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """The new name is on the disk as well."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def schema() -> Any:
    """The columns; docs/reference/environment.md explains each. A row is an attempt."""
    import pyarrow as pa

    text, real, whole = pa.string(), pa.float64(), pa.int64()
    when = pa.timestamp("us", tz="UTC")
    columns = [
        pa.field("schema_version", pa.int32(), nullable=False),
        pa.field("server", text, nullable=False),
        pa.field("episode_id", text, nullable=False),
        pa.field("task", text, nullable=False),
        pa.field("split", text, nullable=False),
        pa.field("index", whole, nullable=False),
        pa.field("seed", whole, nullable=False),
        pa.field("ending", text, nullable=False),
        pa.field("attempt", whole, nullable=False),
        pa.field("kind", text, nullable=False),
        pa.field("source", text, nullable=False),
        pa.field("refusal", text, nullable=False),
        pa.field("verdict", text),
        pa.field("passed_share", real),
        pa.field("score_s", real),
        pa.field("baseline_s", real),
        pa.field("speed_low", real),
        pa.field("speed_high", real),
        pa.field("own_reward", real),
        pa.field("reward", real),
        pa.field("unconfirmed", real),
        pa.field("done", pa.bool_(), nullable=False),
        pa.field("report", text),
        pa.field("held_out_verdict", text),
        pa.field("held_out_score_s", real),
        pa.field("held_out_reward", real),
        pa.field("began_at", when, nullable=False),
        pa.field("duration_s", real, nullable=False),
    ]
    return pa.schema(columns)


def _rows(episode: Recorded, server: str) -> list[dict[str, Any]]:
    found = [_row(episode, number, step) for number, step in enumerate(episode.steps, start=1)]
    if found and (not episode.is_done or episode.unconfirmed):
        found[-1]["unconfirmed"] = episode.unconfirmed
    return [{"server": server, **row} for row in found]


def _row(episode: Recorded, number: int, step: EpisodeStep) -> dict[str, Any]:
    judged, report = step.judged, step.judged.report
    held_out = episode.held_out if step.is_last else None
    return {
        "schema_version": VERSION,
        "episode_id": episode.id,
        "task": episode.task.id,
        "split": episode.task.split.value,
        "index": episode.task.index,
        "seed": episode.seed,
        "ending": (EpisodeEnding.DONE if episode.is_done else EpisodeEnding.ABANDONED).value,
        "attempt": number,
        "kind": step.kind.value,
        "source": judged.source,
        "refusal": judged.refusal,
        **_of_report(report),
        "own_reward": judged.reward,
        "reward": step.reward,
        "done": step.is_last,
        "held_out_verdict": held_out.verdict.value if held_out else None,
        "held_out_score_s": held_out.score_s if held_out else None,
        "held_out_reward": held_out.reward if held_out else None,
        "began_at": step.began_at,
        "duration_s": step.duration_s,
    }


def _of_report(report: Report | None) -> dict[str, Any]:
    if report is None:
        return {}
    low, high = report.speed_ci95 or (None, None)
    return {
        "verdict": report.verdict.value,
        "passed_share": report.passed_share,
        "score_s": report.score_s,
        "baseline_s": report.baseline.score_s if report.baseline else None,
        "speed_low": low,
        "speed_high": high,
        "report": json.dumps(report.document()),
    }
