"""The files of a submission's runs."""

from pydantic import Field

from kernelbot.domain.files import RunFile
from kernelbot.schemas.common import Answer


class ArtifactEntry(Answer):
    """A file to download."""

    run_id: int
    device: str
    name: str = Field(description="Fit for a path: letters, digits, `.`, `_` and `-`.")
    media_type: str
    size_bytes: int

    @classmethod
    def of(cls, found: RunFile) -> "ArtifactEntry":
        """The domain's file."""
        return cls(
            run_id=found.run_id,
            device=found.device,
            name=found.name,
            media_type=found.media_type,
            size_bytes=found.size_bytes,
        )


class ArtifactList(Answer):
    """All that the asker may see, by device, run and name."""

    submission_id: int
    artifacts: list[ArtifactEntry]
