"""The `[launchers.NAME]` tables of `kernelbot.toml`: one kind each, told apart by `kind`."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from dotenv import dotenv_values
from pydantic import BeforeValidator, ValidationError

from kernelbot.domain.errors import UserError
from kernelbot.launchers.kinds import KINDS
from kernelbot.launchers.table import LauncherTable
from kernelbot.server.mistakes import all_mistakes, mistake


def environment_for(tables: Iterable[LauncherTable], env_file: Path) -> dict[str, str]:
    """What the environment, and a file like `.env` where it says nothing, have for launchers, by
    the variables' names; none is empty. Raises `OSError`, `UnicodeDecodeError`."""
    given = {**dotenv_values(env_file), **os.environ}
    names = {name for table in tables for name in table.variables}
    return {name: value for name in sorted(names) if (value := given.get(name))}


def _of_its_kind(table: Any) -> Any:
    if not isinstance(table, dict):
        return table
    try:
        kind = KINDS.load(str(table.get("kind")))
    except KeyError:
        raise mistake(f"must be one of {', '.join(KINDS.names())}", key="kind") from None
    except UserError as error:
        raise mistake(str(error), key="kind") from None
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        raise mistake(all_mistakes(error)) from None


AnyLauncherTable = Annotated[LauncherTable, BeforeValidator(_of_its_kind)]
