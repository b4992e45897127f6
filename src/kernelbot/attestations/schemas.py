"""Results as signed documents: what is signed."""

import json
from datetime import datetime
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from kernelbot.attestations.answers import Sha256
from kernelbot.domain.errors import UserError
from kernelbot.domain.states import ReviewState
from kernelbot.protocol import (
    HarnessKind,
    Mode,
    Phase,
    RankRule,
    SandboxReport,
    SystemInfo,
    Verdict,
)
from kernelbot.protocol.scoring import SAMPLES_PER_FACTOR
from kernelbot.schemas.mistakes import what_is_wrong
from kernelbot.schemas.values import from_json

Read = TypeVar("Read")


class DocumentPart(BaseModel):
    """Base of what is in a document. Unknown keys are refused: what is signed has no part that a
    reader passes over."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class SourceIdentity(DocumentPart):
    """The judged file; its code isn't in the document."""

    file_name: str
    sha256: Sha256 = Field(description="Of the file's bytes.")


class ProblemIdentity(DocumentPart):
    """What was to be solved. Versions with the same `judging_sha256` are judged alike."""

    name: str
    version: int
    content_sha256: Sha256
    judging_sha256: Sha256
    ranking_by: RankRule | None = Field(
        None, description="How a score is made of the workloads' times. Older documents lack it."
    )


class HarnessIdentity(DocumentPart):
    """What judged. Version and hash are null if the run is older than this record of them."""

    kind: HarnessKind
    version: str | None
    sha256: Sha256 | None = Field(description="Of the harness's files, as sha256sum lists them.")


class AttestedWorkload(DocumentPart):
    """One workload; times in nanoseconds, in the order they were taken."""

    phase: Phase
    workload: int = Field(description="Counted from 0, in the phase's order.")
    spec: str | None = Field(description="Null if it is secret.")
    median_ns: float
    ci95_ns: tuple[float, float]
    stopped_by: str
    empty_call_ns: float | None
    anchor_ns: float | None
    drift_factors: list[float] = Field(
        description="Median and interval are of the samples times these, one for ten each."
    )
    samples_ns: list[float]
    processes: int = Field(
        1,
        ge=1,
        description="So many took the samples in turn: sample i is of process i modulo this. "
        "Older documents lack it: one did.",
    )

    @model_validator(mode="after")
    def _factors_are_as_many_as_blocks(self) -> Self:
        blocks = -(-len(self.samples_ns) // SAMPLES_PER_FACTOR)
        if self.drift_factors and len(self.drift_factors) != blocks:
            raise ValueError(f"has {len(self.drift_factors)} drift_factors for {blocks} blocks")
        return self


class AttestedCase(DocumentPart):
    """One test case, of a public run."""

    spec: str
    verdict: Verdict


class AttestedRun(DocumentPart):
    """One finished run. Of a secret run neither its data is named nor what found a mistake."""

    run_id: int
    device: str
    secret: bool
    rejudge_id: int | None
    finished_at: datetime
    verdict: Verdict
    score_s: float | None
    score_ci95_s: tuple[float, float] | None = Field(
        description="95 % interval of the score, of this judging alone."
    )
    unverified: bool = Field(description="Measured by the problem's own script.")
    problem: ProblemIdentity
    harness: HarnessIdentity
    system: SystemInfo = Field(description="Of a secret run without notes.")
    sandbox: SandboxReport
    cases: list[AttestedCase]
    workloads: list[AttestedWorkload]
    samples_withheld: bool = Field(description="If it was timed, its samples aren't shown here.")


class AttestedResult(DocumentPart):
    """A submission with all of its finished runs: what is signed."""

    submission_id: int
    board: str
    author: str
    mode: Mode
    submitted_at: datetime
    source: SourceIdentity
    review: ReviewState
    verdict: Verdict
    score_s: float | None
    runs: list[AttestedRun]
    signed_at: datetime


def read_strictly(model: type[Read], content: bytes, what: str) -> Read:
    """A part of a document that anybody may have written. Raises `UserError` in one sentence, for
    NaN, keys that are there twice and nesting without end too: readers don't agree about those."""
    try:
        found = json.loads(content.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
        return from_json(model, json.dumps(found))
    except UnicodeDecodeError as error:
        why = f"byte {error.start} isn't UTF-8"
    except ValidationError as error:
        first = error.errors()[0]
        why = f"{'.'.join(str(key) for key in first['loc']) or 'it'} {what_is_wrong(first)}"
    except RecursionError:
        why = "it is nested too deeply"
    except json.JSONDecodeError as error:
        why = f"it isn't JSON (line {error.lineno}, column {error.colno})"
    except ValueError as error:
        why = str(error)
    raise UserError(f"{what} can't be read: {why}.", hint="Get the document again.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:50]!r} is there twice")
        found[key] = value
    return found


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} isn't a number in JSON")
