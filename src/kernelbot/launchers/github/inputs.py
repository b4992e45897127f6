"""What a dispatch tells the workflow. `deploy/github/run_job.py` reads it."""

import math

from kernelbot.launchers.github.settings import GithubSettings
from kernelbot.launchers.links import Links
from kernelbot.launchers.rest.carried import carry
from kernelbot.protocol import JobSpec

MAX_PAYLOAD = 60_000
"""Characters. GitHub takes 65,535 for all inputs together."""


def make_inputs(spec: JobSpec, settings: GithubSettings, links: Links | None) -> dict[str, str]:
    """The inputs of the attempt's run. Raises `JobRefused` if they can't hold the job, and its
    node can't fetch it."""
    most_s = spec.longest_s + settings.slack_s
    carried = carry(
        spec,
        links,
        max_payload=MAX_PAYLOAD,
        wait_s=settings.traits.wait_s,
        most_s=most_s,
        scheduler="GitHub",
    )
    return {
        "attempt": spec.job_id,
        "runner": settings.devices[spec.device.name].label,
        "timeout_minutes": str(math.ceil(most_s / 60)),
        "payload": carried.payload,
        "payload_url": carried.payload_url,
        "events_url": carried.links.events_url,
        "harness_url": carried.links.harness_url,
        "harness_sha256": carried.links.harness_sha256,
        "sandbox": "optional" if settings.no_sandbox_ok else "required",
    }
