"""Files that came out of runs, under names that are safe wherever they go."""

from collections.abc import Iterable
from dataclasses import field, replace

from kernelbot.domain.values import described
from kernelbot.protocol import Artifact
from kernelbot.protocol.late import dataclass

MAX_NAME = 100


@dataclass(frozen=True)
class RunFile:
    run_id: int
    device: str
    name: str = field(metadata=described("Safe in a path: letters, digits, `.`, `_` and `-`."))
    media_type: str
    size_bytes: int


def safe_name(name: str) -> str:
    """The name as one that means nothing to a shell, a path or a header: ASCII letters, digits,
    `.`, `_` and `-`, no dot in front, and of a long one the end. Safe names stay as they are."""
    shown = "".join(
        character if character.isascii() and (character.isalnum() or character in "._-") else "_"
        for character in name
    )
    return shown[-MAX_NAME:].lstrip(".") or "file"


def under_safe_names(artifacts: Iterable[Artifact]) -> tuple[Artifact, ...]:
    """The same artifacts under safe names, no two of which are the same."""
    kept: dict[str, Artifact] = {}
    for artifact in artifacts:
        name, number = safe_name(artifact.name), 1
        while name in kept:
            number += 1
            name = _numbered(safe_name(artifact.name), number)
        kept[name] = replace(artifact, name=name)
    return tuple(kept.values())


def _numbered(name: str, number: int) -> str:
    """A safe name with a number before it. A long name is cut to make room for the number: if the
    number were cut off, two long names would never differ."""
    prefix = f"{number}-"
    return prefix + name[-(MAX_NAME - len(prefix)) :]
