"""A public run whose node goes on with the secret run of the same submission, so that both have a
GPU once."""

from collections.abc import Mapping
from dataclasses import replace

from kernelbot.domain.values import from_fields
from kernelbot.protocol import Mode, Vendor
from kernelbot.runs import store as attempts
from kernelbot.runs.claims import Claim
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.runs.job_terms import JobTerms
from kernelbot.runs.jobs import JobSpecs
from kernelbot.runs.model import RunRef
from kernelbot.runs.store import LockedRun
from kernelbot.store.database import WriteSession


async def with_follow_up(
    session: WriteSession, run: LockedRun, device: DeviceConfig, jobs: JobSpecs, terms: JobTerms
) -> JobTerms:
    """The terms of the run's next attempt, with what its node may judge after it, if anything. An
    attempt that was lost may have been its node's end: the next one has a node for itself."""
    if not _goes_on(run, device) or await attempts.losses(session, run.id):
        return terms
    waiting = await attempts.waiting_secret_run(session, run.id)
    if waiting is None:
        return terms
    return replace(terms, follow_up=jobs.follow_up(run, device, waiting))


def _goes_on(run: LockedRun, device: DeviceConfig) -> bool:
    is_public = run.mode == Mode.LEADERBOARD and not run.secret
    on_gpu = device.spec.vendor is not Vendor.CPU
    return on_gpu and device.one_allocation and is_public


async def begin_next(
    session: WriteSession,
    claim: Claim,
    owner: str,
    devices: Mapping[str, DeviceConfig],
    jobs: JobSpecs,
) -> Claim | None:
    """Begin the attempt that was judged together with the claim's; None if its run is somebody
    else's by now, or would be judged on other terms."""
    waiting = await attempts.waiting_secret_run(session, claim.run_id)
    run = None if waiting is None else await attempts.lock_run(session, waiting.id)
    spec = claim.spec.next_job
    if waiting is None or run is None or spec is None:
        return None
    if jobs.follow_up(run, devices[run.device], waiting) != claim.spec.follow_up:
        return None
    attempt = await attempts.open_attempt(
        session, run, launcher=claim.launcher, owner=owner, terms=JobTerms.from_job(spec)
    )
    return replace(
        claim,
        attempt_id=attempt.id,
        run_id=run.id,
        spec=spec,
        handle=None,
        run=from_fields(RunRef, run),
        waited_s=run.waited_s,
        is_ranked=True,
    )
