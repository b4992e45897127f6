"""The files of a submission's runs."""

from pydantic import Field

from kernelbot.schemas.common import Answer, Shown


class ArtifactEntry(Shown):
    """A file to download."""

    run_id: int
    device: str
    name: str = Field(description="Safe in a path: letters, digits, `.`, `_` and `-`.")
    media_type: str
    size_bytes: int


class ArtifactList(Answer):
    """All that the asker may see, by device, run and name."""

    submission_id: int
    artifacts: list[ArtifactEntry]
