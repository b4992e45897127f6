"""Lists of boards."""

from kernelbot.boards.model import NamedBoard
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class BoardList:
    """Every board the asker may see."""

    boards: list[NamedBoard]
