"""Functions, views and triggers, by subject.

They have no history, other than tables, which `migrations/` makes and changes: each is defined
exactly once, here. All functions and views of a release are in a schema of their own in the
database (`store/code.py`), so that two releases work on the same tables.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import LiteralString

SUBJECTS = (
    "accounts",
    "boards",
    "submissions",
    "runs",
    "scatter",
    "eligible",
    "ranking",
    "shown",
    "duels",
    "queue",
    "announcing",
    "webhooks",
)
"""In the order of their dependencies."""

PREFIX = "kernelbot_code_"
"""How the names of these schemas begin."""
_DIGITS = 12
_TRIGGER = re.compile(r"^CREATE (?:CONSTRAINT )?TRIGGER [^;]*;$", re.MULTILINE)
_CREATED = re.compile(
    r"^CREATE (?:(?P<routine>FUNCTION|AGGREGATE)|(?P<view>VIEW)) (?P<name>\w+)", re.MULTILINE
)
_TEXT_OR_SPACE = re.compile(r"'(?:[^']|'')*'|(?:--[^\n]*|\s)+")


@dataclass(frozen=True)
class Code:
    """Statements that create every function, aggregate, view and trigger of a release."""

    text: str

    @cached_property
    def schema(self) -> str:
        """The name of its schema, by what it does: comments and white space don't count."""
        plain = _TEXT_OR_SPACE.sub(lambda found: _plain(found[0]), self.text).strip()
        return PREFIX + hashlib.sha256(plain.encode()).hexdigest()[:_DIGITS]

    @property
    def functions(self) -> str:
        """The functions without triggers, which belong to tables: all releases have them
        together."""
        return _TRIGGER.sub("", self.text)

    @property
    def triggers(self) -> list[str]:
        return _TRIGGER.findall(self.text)

    @property
    def drops(self) -> list[str]:
        """Statements that undo `functions`: names are unique, so no signature is needed."""
        return [self._drop(created) for created in _CREATED.finditer(self.functions)][::-1]

    def _drop(self, created: re.Match[str]) -> str:
        return f"DROP {'VIEW' if created['view'] else 'ROUTINE'} {self.schema}.{created['name']}"


def _plain(found: str) -> str:
    return found if found.startswith("'") else " "


@cache
def functions() -> LiteralString:
    folder = Path(__file__).parent
    paths = [folder / subject / "functions.sql" for subject in SUBJECTS]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


@cache
def this_code() -> Code:
    """This release's functions and views."""
    return Code(functions())
