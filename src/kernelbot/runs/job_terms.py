"""What an attempt's job was decided to be, when it was claimed."""

import hashlib
from dataclasses import dataclass

from kernelbot.domain.values import from_fields
from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Limits,
    Mode,
    ProblemSpec,
    SamplingRules,
    SandboxMode,
    SourceFile,
)
from kernelbot.protocol.job import FollowUp


def job_id_of(run_id: int, attempt: int, board_secret: bytes) -> str:
    """An id that is always the same for one attempt of a run, and differs between databases."""
    name = f"{run_id}.{attempt}"
    mark = hashlib.sha256(board_secret + name.encode()).hexdigest()[:12]
    return f"{name}.{mark}"


@dataclass(frozen=True)
class JobTerms:
    """A JobSpec without problem, sources and products. Those never change in the database; the rest
    comes from a worker's configuration and from what organisers may change, so it is stored with
    the attempt: whoever makes the job's specification again makes the same."""

    job_id: str
    mode: Mode
    device: DeviceSpec
    secret: bool
    seed: int | None
    limits: Limits
    sampling: SamplingRules
    sandbox: SandboxMode
    product_sha256: str = ""
    """The digest of the product that the job carries; empty: none."""
    opponent_product_sha256: str = ""
    follow_up: FollowUp | None = None
    """The run on secret data that the same node judges next, as an attempt that isn't begun yet."""

    @classmethod
    def from_job(cls, spec: JobSpec) -> "JobTerms":
        return from_fields(
            cls,
            spec,
            product_sha256=spec.product.sha256 if spec.product else "",
            opponent_product_sha256=spec.opponent_product.sha256 if spec.opponent_product else "",
        )

    def spec(
        self, problem: ProblemSpec, submission: SourceFile, opponent: SourceFile | None = None
    ) -> JobSpec:
        """The specification, with the attempt's problem and sources; `opponent`: a duel's. What it
        carries is for the caller to add."""
        return from_fields(JobSpec, self, problem=problem, submission=submission, opponent=opponent)
