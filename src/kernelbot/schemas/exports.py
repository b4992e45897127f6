"""Exports of submissions."""

from pydantic import Field

from kernelbot.domain.export import ExportChoice, Exported
from kernelbot.schemas.common import Answer, Name, RequestBody


class HubBody(RequestBody):
    """What is uploaded to the configured dataset, and for whom."""

    boards: list[Name] = Field(default=[], max_length=1000, description="Default: all.")
    name: Name = Field(default="submissions.parquet", description="Ends in .parquet.")
    private: bool = True

    def choice(self) -> ExportChoice:
        """As the services take it."""
        return ExportChoice(names=tuple(self.boards))


class ExportView(Answer):
    """What was uploaded, and where to."""

    where: str
    boards: list[str]
    submissions: int

    @classmethod
    def of(cls, done: Exported) -> "ExportView":
        """The domain's export."""
        return cls(where=done.where, boards=list(done.boards), submissions=done.submissions)
