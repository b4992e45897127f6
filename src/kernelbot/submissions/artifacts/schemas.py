"""The files of a submission's runs."""

from kernelbot.protocol.late import dataclass
from kernelbot.runs.files import RunFile


@dataclass(frozen=True)
class ArtifactList:
    """All that the asker may see, by device, run and name."""

    submission_id: int
    artifacts: list[RunFile]
