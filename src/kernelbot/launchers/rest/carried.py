"""How a job reaches its node: with what the scheduler carries, or by a link of ours."""

from dataclasses import dataclass, replace

from kernelbot.domain.errors import JobRefused
from kernelbot.launchers.links import Links, NodeLinks, valid_s
from kernelbot.protocol import JobSpec, encode_payload


@dataclass(frozen=True)
class Carried:
    """What a job carries: the payload or its link, of which one is empty."""

    payload: str
    payload_url: str
    links: NodeLinks
    """The others; all empty if nodes can't reach us."""


def carry(
    spec: JobSpec,
    links: Links | None,
    *,
    max_payload: int,
    wait_s: float,
    most_s: float,
    scheduler: str,
) -> Carried:
    """`max_payload`: characters that the scheduler carries; `wait_s`, `most_s`: seconds for which
    the job may wait for its node, and that it may take then. If the job is larger, and its node
    can't fetch it, it goes without what was built for it; raises `JobRefused` if it is larger all
    the same."""
    job_links = NodeLinks("", "", "", "")
    if links is not None:
        job_links = links.for_job(spec.job_id, valid_s(wait_s, most_s))
    payload = encode_payload(spec)
    if len(payload) > max_payload and not job_links.payload_url:  # then its node builds it again
        payload = encode_payload(replace(spec, product=None, opponent_product=None))
    if len(payload) <= max_payload:
        return Carried(payload, "", job_links)
    if not job_links.payload_url:
        raise JobRefused(
            f"The job has {len(payload)} characters, more than {scheduler} carries, and its node "
            "can't fetch it: set public_url, under which nodes reach this platform."
        )
    return Carried("", job_links.payload_url, job_links)
