"""What a dispatch tells the workflow. `deploy/github/run_job.py` reads it."""

import json
import math

from kernelbot.domain.errors import JobRefused
from kernelbot.launchers.github.settings import GithubSettings
from kernelbot.launchers.links import Links, NodeLinks
from kernelbot.protocol import JobSpec, encode_payload

MAX_INPUTS = 65_000
"""Characters of all inputs as JSON; GitHub takes 65,535."""
_NO_LINKS = NodeLinks("", "", "", "")


def make_inputs(spec: JobSpec, settings: GithubSettings, links: Links | None) -> dict[str, str]:
    """The inputs of the attempt's run. A payload that is too long is fetched from us. Raises
    `JobRefused` if it can't be."""
    most_s = spec.problem.timeouts.together_s + settings.slack_s
    told = _NO_LINKS if links is None else links.of(spec.job_id, _valid_s(most_s))
    inputs = {
        "attempt": spec.job_id,
        "runner": settings.devices[spec.device.name].label,
        "timeout_minutes": str(math.ceil(most_s / 60)),
        "payload": encode_payload(spec),
        "payload_url": "",
        "events_url": told.events_url,
        "harness_url": told.harness_url,
        "harness_sha256": told.harness_sha256,
        "sandbox": "optional" if settings.no_sandbox_ok else "required",
    }
    if len(json.dumps(inputs)) <= MAX_INPUTS:
        return inputs
    if not told.payload_url:
        raise JobRefused(
            f"The job has {len(inputs['payload'])} characters, more than GitHub carries, and its "
            "node can't fetch it: set public_url, under which nodes reach this platform."
        )
    return {**inputs, "payload": "", "payload_url": told.payload_url}


def _valid_s(most_s: float) -> float:
    """GitHub keeps a run in its queue for a day at most."""
    return 24 * 3600 + most_s
