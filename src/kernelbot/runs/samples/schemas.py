"""Every sample of a submission's measurements."""

from kernelbot.protocol.late import dataclass
from kernelbot.runs.samples.model import SampledWorkload


@dataclass(frozen=True)
class SampleList:
    """All that the asker may see. Of secret runs that is what accepted ones took, unless the board
    gives all of them the same seed (`fixed_seed`); admins see everything."""

    submission_id: int
    workloads: list[SampledWorkload]
