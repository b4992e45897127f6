"""Exports of submissions."""

from dataclasses import field
from typing import Annotated

from kernelbot.domain.bounds import Within
from kernelbot.domain.values import described
from kernelbot.platform.exports.model import ExportChoice
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import Name, RequestBody


@dataclass(frozen=True)
class HubBody(RequestBody):
    """What is uploaded to the configured dataset, and whether it is private."""

    boards: Annotated[tuple[Name, ...], Within(max_length=1000)] = field(
        default=(), metadata=described("Default: all.")
    )
    name: Name = field(default="submissions.parquet", metadata=described("Ends in .parquet."))
    private: bool = True

    def choice(self) -> ExportChoice:
        """The boards in the services' form."""
        return ExportChoice(names=self.boards)
