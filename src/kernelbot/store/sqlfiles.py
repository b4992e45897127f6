"""Named SQL: `sql/<noun>.sql` holds statements, each under a line `-- name: what_it_does`."""

import re
from functools import cache
from pathlib import Path
from typing import LiteralString, cast

_HEADER = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def statements(noun: str) -> dict[str, LiteralString]:
    """The statements of one file by name. They are our own source text, hence literal."""
    text = (Path(__file__).parent / "sql" / f"{noun}.sql").read_text(encoding="utf-8")
    parts = _HEADER.split(text)
    names, bodies = parts[1::2], parts[2::2]
    assert len(set(names)) == len(names), f"{noun}.sql names a statement twice"
    return {
        name: cast(LiteralString, body.strip().removesuffix(";"))
        for name, body in zip(names, bodies, strict=True)
    }
