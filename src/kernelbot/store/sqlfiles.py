"""Named SQL: `queries.sql` beside a store, statements each under a line `-- name: what_it_does`."""

import re
from functools import cache
from pathlib import Path
from typing import LiteralString, cast

_HEADER = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def statements(module: str) -> dict[str, LiteralString]:
    """The statements of the `queries.sql` beside a module, by name. `module`: its `__file__`. They
    are our own source text, hence literal."""
    path = Path(module).with_name("queries.sql")
    parts = _HEADER.split(path.read_text(encoding="utf-8"))
    names, bodies = parts[1::2], parts[2::2]
    assert len(set(names)) == len(names), f"{path} names a statement twice"
    return {
        name: cast(LiteralString, body.strip().removesuffix(";"))
        for name, body in zip(names, bodies, strict=True)
    }
