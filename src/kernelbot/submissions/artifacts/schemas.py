"""The files of a submission's runs."""

from kernelbot.runs.files import RunFile
from kernelbot.schemas.common import Answer


class ArtifactList(Answer):
    """All that the asker may see, by device, run and name."""

    submission_id: int
    artifacts: list[RunFile]
