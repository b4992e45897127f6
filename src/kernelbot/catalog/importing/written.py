"""YAML as people write it, and the competition file of an import."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from kernelbot.catalog.skeleton import NAME, NAME_RULE
from kernelbot.domain.errors import Conflict, InvalidProblem


def yaml_text(value: Any) -> str:
    """In the order of the keys, text of several lines as a block."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


class _Dumper(yaml.SafeDumper):
    def represent_scalar(self, tag: str, value: Any, style: str | None = None) -> yaml.ScalarNode:
        block = isinstance(value, str) and "\n" in value
        return super().represent_scalar(tag, value, "|" if block else style)


def competition_file(into: Path, name: str) -> Path:
    """Where the competition's file goes. Raises InvalidProblem if that can't be a name, Conflict if
    there is one."""
    if not NAME.fullmatch(name):
        raise InvalidProblem(f"A competition can't be named {name!r}.", hint=NAME_RULE.capitalize())
    path = into / f"{name}.yaml"
    if path.exists():
        raise Conflict(f"{path} already exists.", hint="Choose another name or folder.")
    return path


def competition_text(name: str, folders: Sequence[Path], devices: Sequence[str]) -> str:
    """A competition without a deadline, with a board for each of the folders beside its file."""
    boards = [
        {"directory": folder.name, "name": folder.name, "gpus": list(devices)} for folder in folders
    ]
    return yaml_text({"name": name, "description": "", "deadline": "", "problems": boards})
