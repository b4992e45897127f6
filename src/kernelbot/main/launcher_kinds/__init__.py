"""The `[launchers.NAME]` tables of `kernelbot.toml`: one kind each, told apart by `kind`."""

from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError

from kernelbot.main.launcher_kinds.base import LauncherTable
from kernelbot.main.launcher_kinds.buildkite import BuildkiteTable
from kernelbot.main.launcher_kinds.github import GithubTable
from kernelbot.main.launcher_kinds.modal import ModalTable
from kernelbot.main.launcher_kinds.slurm import SlurmTable
from kernelbot.main.mistakes import all_mistakes, mistake

KINDS: dict[str, type[LauncherTable]] = {
    "buildkite": BuildkiteTable,
    "github": GithubTable,
    "modal": ModalTable,
    "slurm": SlurmTable,
}
"""`local` is no kind: it always exists, and there is one of it."""


def _of_its_kind(table: Any) -> Any:
    if not isinstance(table, dict):
        return table
    kind = KINDS.get(str(table.get("kind")))
    if kind is None:
        raise mistake(f"must be one of {', '.join(KINDS)}", key="kind")
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        raise mistake(all_mistakes(error)) from None


AnyLauncherTable = Annotated[LauncherTable, BeforeValidator(_of_its_kind)]
