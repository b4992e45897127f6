"""Exports of submissions."""

from pydantic import Field

from kernelbot.platform.exports.model import ExportChoice
from kernelbot.schemas.common import Name, RequestBody


class HubBody(RequestBody):
    """What is uploaded to the configured dataset, and whether it is private."""

    boards: list[Name] = Field(default=[], max_length=1000, description="Default: all.")
    name: Name = Field(default="submissions.parquet", description="Ends in .parquet.")
    private: bool = True

    def choice(self) -> ExportChoice:
        """The boards in the services' form."""
        return ExportChoice(names=tuple(self.boards))
