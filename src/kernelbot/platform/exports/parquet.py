"""Writes exported submissions as Parquet."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kernelbot.domain.errors import Unavailable
from kernelbot.platform.distribution import checkout_command
from kernelbot.platform.exports.model import ExportRow
from kernelbot.platform.exports.pseudonyms import pseudonym

_NUMBERS = frozenset({"author_id", "submission_id"})


class ParquetFile:
    """One row per submission, its runs as a list of structs."""

    def __init__(self, writer: Any, schema: Any, key: bytes) -> None:
        self._writer = writer
        self._schema = schema
        self._key = key
        self.rows = 0

    def write(self, rows: list[ExportRow]) -> None:
        """Append a row group. Blocks."""
        import pyarrow

        records = [
            {
                **{name: value for name, value in vars(row).items() if name not in _NUMBERS},
                "submission": pseudonym(self._key, "submission", row.submission_id),
                "author": pseudonym(self._key, "user", row.author_id),
                "runs": [{**asdict(run), "mode": row.mode} for run in row.runs],
            }
            for row in rows
        ]
        self._writer.write_table(pyarrow.Table.from_pylist(records, schema=self._schema))
        self.rows += len(records)


@contextmanager
def parquet_file(path: Path, key: bytes) -> Iterator[ParquetFile]:
    """A file to be written, complete when the block ends. Raises `Unavailable` without pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise Unavailable(
            "Exports need pyarrow, which isn't installed.",
            hint=f"Install the extra: {checkout_command('export')}.",
        ) from None
    schema = _schema(pyarrow)
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        yield ParquetFile(writer, schema, key)


def _schema(pa: Any) -> Any:
    text, real, when = pa.string(), pa.float64(), pa.timestamp("us", tz="UTC")
    run = pa.struct(
        [
            ("device", text),
            ("mode", text),
            ("secret", pa.bool_()),
            ("state", text),
            ("verdict", text),
            ("score_s", real),
            ("ci_low_s", real),
            ("ci_high_s", real),
            ("ranked_low_s", real),
            ("ranked_high_s", real),
            ("unverified", pa.bool_()),
            ("created_at", when),
            ("started_at", when),
            ("finished_at", when),
        ]
    )
    return pa.schema(
        [
            ("submission", text),
            ("board", text),
            ("competition", text),
            ("problem", text),
            ("problem_version", pa.int64()),
            ("author", text),
            ("mode", text),
            ("review", text),
            ("created_at", when),
            ("code", text),
            ("runs", pa.list_(run)),
        ]
    )
