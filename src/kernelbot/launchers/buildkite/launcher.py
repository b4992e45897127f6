"""The launcher: what `Launcher` promises, in Buildkite's requests."""

import asyncio
import math
import time

from kernelbot.launchers.base import Availability, Outcome
from kernelbot.launchers.buildkite.answers import BuildkiteArtifact, BuildkiteBuild, BuildkiteJob
from kernelbot.launchers.buildkite.api import PAGE, BuildkiteApi
from kernelbot.launchers.buildkite.queues import Queues
from kernelbot.launchers.buildkite.settings import BuildkiteSettings
from kernelbot.launchers.fitting import must_end_within
from kernelbot.launchers.handles import Handle, job_name
from kernelbot.launchers.links import Links
from kernelbot.launchers.rest.carried import carry
from kernelbot.launchers.rest.client import TooLarge
from kernelbot.launchers.rest.launcher import RestLauncher, RestRules
from kernelbot.launchers.rest.listing import JobFinder
from kernelbot.launchers.results import found, lost, too_long
from kernelbot.protocol import Fault, JobSpec, SandboxMode

RESULT = "result.json"
MAX_PAYLOAD = 100_000
"""Characters. No variable of Linux's may have more than 131,071 bytes."""
_SEEN_FOR_S = 1.0
_PAGE_OF_AGENTS_S = 5.0
"""How long a look at the agents is valid for each page of them: many agents take several requests.
"""
_PIPELINE_S = 60.0
_JUDGE = "judge"
"""The key of the step that judges."""
_AGENT_LOST = -1
"""The exit status of a job whose agent is gone."""
_BY_ITSELF = frozenset(("passed", "failed"))
_REASONS = {
    "blocked": (Fault.PLATFORM, "its pipeline waits for somebody to unblock it"),
    "canceled": (Fault.SCHEDULER, "somebody cancelled it at Buildkite"),
    "skipped": (Fault.PLATFORM, "Buildkite skipped it: its pipeline must not skip builds"),
    "not_run": (Fault.PLATFORM, "Buildkite didn't run it: is its pipeline for other branches?"),
}
_STEP_REASONS = {
    "broken": (Fault.PLATFORM, "Buildkite can't run {}: is it right in its pipeline?"),
    "canceled": (Fault.SCHEDULER, "{} was cancelled at Buildkite"),
    "expired": (Fault.SCHEDULER, "no agent took it for too long"),
    "skipped": (Fault.PLATFORM, "Buildkite skipped {}: its pipeline must not skip any"),
}


class BuildkiteLauncher(RestLauncher[BuildkiteBuild]):
    """Implements `Launcher`. `links` None: a job must fit into a variable, and the harness is that
    of the agents' image."""

    def __init__(self, settings: BuildkiteSettings, links: Links | None) -> None:
        self._settings = settings
        self._links = links
        self._api = BuildkiteApi(settings)
        self._queues = Queues(settings.upload_queue)
        self._looking = asyncio.Lock()
        self._agents_at = float("-inf")
        """When agents and pipeline are to be looked at again."""
        self._pipeline: tuple[float, str] = (float("-inf"), "")
        """Until when it needn't be looked at, and why it can't be used."""
        self._results: dict[str, BuildkiteArtifact] = {}
        """By build's number, of those that were fetched."""
        super().__init__(
            "Buildkite",
            settings.queues,
            RestRules(settings.traits, settings.settle_s, settings.appear_s),
            JobFinder(self._api.builds, PAGE, self._api.pause_s),
            self._api,
        )

    async def _create(self, spec: JobSpec) -> int:
        must_end_within(
            self._settings.step_timeout_s,
            spec,
            self._settings.slack_s,
            what="the pipeline's step at Buildkite",
            hint="Raise its timeout_in_minutes, and step_timeout_s in kernelbot.toml",
        )
        environment = await asyncio.to_thread(self._environment, spec)
        environment["GPU_QUEUE"] = self._queues.choose(self._settings.queues[spec.device.name])
        build = await self._api.create(job_name(spec.job_id), environment)
        self._jobs.put(build)
        return build.number

    def _environment(self, spec: JobSpec) -> dict[str, str]:
        """What `deploy/buildkite/run-job.sh` reads. Raises `JobRefused`."""
        carried = carry(
            spec,
            self._links,
            max_payload=MAX_PAYLOAD,
            wait_s=self.traits.wait_s,
            most_s=spec.longest_s + self._settings.slack_s,
            scheduler="Buildkite",
        )
        given = {
            "SUBMISSION_ATTEMPT": spec.job_id,
            "SUBMISSION_PAYLOAD": carried.payload,
            "SUBMISSION_PAYLOAD_URL": carried.payload_url,
            "SUBMISSION_EVENTS_URL": carried.links.events_url,
            "SUBMISSION_HARNESS_URL": carried.links.harness_url,
            "SUBMISSION_HARNESS_SHA256": carried.links.harness_sha256,
        }
        if self._settings.warm_idle_s and spec.sandbox is SandboxMode.REQUIRED:
            given["SUBMISSION_WARM_IDLE_S"] = str(math.ceil(self._settings.warm_idle_s))
            given["SUBMISSION_WARM_LIMIT_S"] = str(math.ceil(self._settings.warm_limit_s))
        return {name: value for name, value in given.items() if value}

    async def _show(self, number: str) -> BuildkiteBuild | None:
        return await self._api.build(number)

    async def _end(self, handle: Handle, job: BuildkiteBuild, most: int) -> Outcome | None:
        artifact = _result_of(await self._api.artifacts(handle.number))
        if artifact is None:
            by_itself = job.build_state in _BY_ITSELF
            return None if by_itself else await self._why_no_result(job)
        self._results[handle.number] = artifact
        try:
            content = await self._api.download(handle.number, artifact, most)
        except TooLarge:
            return lost(too_long(most))
        if content is None:
            return lost("its result is gone from Buildkite", Fault.SCHEDULER)
        return found(content, most)

    async def _why_no_result(self, job: BuildkiteBuild) -> Outcome:
        if job.build_state == "blocked":
            await self._api.cancel(str(job.number))  # or it might run when nobody wants it
        if job.build_state in _REASONS:
            fault, reason = _REASONS[job.build_state]
            return lost(reason, fault)
        if job.build_state not in _BY_ITSELF:
            return lost(f"Buildkite says that it is {job.build_state}", Fault.SCHEDULER)
        jobs = await self._api.jobs(str(job.number))
        return _why_failed([each for each in jobs if each.type == "script"])

    async def cancel(self, handle: str) -> None:
        """The agent stops the step, and kills it a few seconds later."""
        if (known := Handle.parse(handle)) is not None:
            await self._api.cancel(known.number)

    async def forget(self, handle: str) -> None:
        """Delete the result. Of the build, Buildkite keeps the rest."""
        if (known := Handle.parse(handle)) is None:
            return
        self._forget(known)
        fetched = self._results.pop(known.number, None)
        kept = [fetched] if fetched else await self._api.artifacts(known.number)
        for artifact in kept:
            await self._api.delete(known.number, artifact)

    async def availability(self, device: str) -> Availability:
        """Whether the pipeline is there, and an agent for one of the device's queues, as far as our
        token may see them."""
        queues = self._settings.queues.get(device)
        if queues is None:
            return Availability(False, f"this launcher has no device {device!r}")
        if why := self._api.used_up():
            return Availability(False, why)
        async with self._looking:  # once for all devices
            if self._agents_at < 0 or (
                time.monotonic() >= self._agents_at and self._api.spare() > 0
            ):  # jobs go first: while they want all requests, what was seen last holds
                await self._look()
        why = self._pipeline[1] or self._queues.why_not(queues)
        return Availability(not why, why)

    async def _look(self) -> None:
        """At the agents, and less often at the pipeline. Rarer while requests run short."""
        checked_until, why = self._pipeline
        if why or time.monotonic() >= checked_until:
            self._pipeline = (time.monotonic() + _PIPELINE_S, await self._api.why_not())
        agents = await self._api.agents()
        self._queues.see(agents)
        requests = len(agents or ()) // PAGE + 1
        spread_s = self._api.pause_s() + (_PAGE_OF_AGENTS_S if requests > 1 else 0.0)
        self._agents_at = time.monotonic() + max(requests * spread_s, _SEEN_FOR_S)


def _result_of(artifacts: list[BuildkiteArtifact]) -> BuildkiteArtifact | None:
    return next((a for a in artifacts if a.path == RESULT and a.state == "finished"), None)


def _why_failed(jobs: list[BuildkiteJob]) -> Outcome:
    judging = next((job for job in jobs if job.step_key == _JUDGE), None)
    if judging is not None:
        return _why_step_failed(judging, "the step")
    if not jobs or jobs[-1].state == "passed":
        return lost("its pipeline has no step that judges")
    return _why_step_failed(jobs[-1], "the step that uploads the one that judges")


def _why_step_failed(job: BuildkiteJob, which: str) -> Outcome:
    if job.state in _STEP_REASONS:
        fault, reason = _STEP_REASONS[job.state]
        return lost(reason.format(which), fault)
    where = f"agent {job.agent.name[:80]!r}" if job.agent else "no agent"
    if job.state == "timed_out":
        return lost(f"Buildkite ended it on {where}: judging took longer than the step may")
    if job.exit_status is None or job.exit_status == _AGENT_LOST:
        if job.agent is None:
            return lost("Buildkite ended it before any agent had begun it", Fault.SCHEDULER)
        return lost(f"Buildkite lost {where} in the middle", Fault.SCHEDULER)
    return lost(
        f"{which} ended with exit code {job.exit_status} and no result on {where}; the build's "
        "log at Buildkite has why"
    )
