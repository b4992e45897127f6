"""Addresses of the platform's own that a node may use, for schedulers that carry little."""

from dataclasses import dataclass
from typing import Protocol

_DAY_S = 86_400.0


@dataclass(frozen=True)
class NodeLinks:
    """What a node is told about one job. Whoever has one of the first two URLs may use it, for this
    job alone, until it expires: they are secrets as the payload is."""

    payload_url: str
    """GET answers the job as `encode_payload` wrote it."""
    events_url: str
    """POST takes progress events, as JSON lines."""
    harness_url: str
    """GET answers the harness, a zipapp; no secret."""
    harness_sha256: str


def valid_s(wait_s: float, most_s: float) -> float:
    """For how many seconds a job's links are valid that may wait so long for its node, and take so
    long then. It may wait for a day in any case: whoever gives it up may not run meanwhile."""
    return max(wait_s, _DAY_S) + most_s


class Links(Protocol):
    """Makes the links of attempts."""

    def for_job(self, job_id: str, valid_s: float) -> NodeLinks:
        """The links of one attempt. `valid_s`: seconds from now until the signed ones expire."""
