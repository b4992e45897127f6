"""Lists of boards."""

from dataclasses import dataclass

from kernelbot.boards.model import NamedBoard


@dataclass(frozen=True)
class BoardList:
    """Every board the asker may see."""

    boards: list[NamedBoard]
