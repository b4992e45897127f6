"""Why a run came to its end without a result, and whose failure that was."""

from kernelbot.launchers.base import Outcome
from kernelbot.launchers.github.answers import GithubJob, GithubRun
from kernelbot.launchers.github.api import GithubApi
from kernelbot.launchers.results import lost
from kernelbot.protocol import Fault

JUDGE_STEP = "judge"
RESULT_STEP = "result"
_BY_ITSELF = ("success", "failure")
_REASONS = {
    "cancelled": (  # also said of a job that takes longer than its `timeout-minutes`
        Fault.SCHEDULER,
        "GitHub cancelled it: somebody asked, or judging took longer than all limits together",
    ),
    "timed_out": (
        Fault.PLATFORM,
        "GitHub ended it: judging took longer than all limits together",
    ),
    "startup_failure": (Fault.PLATFORM, "GitHub couldn't start it: is its workflow file valid?"),
}


def is_final(run: GithubRun) -> bool:
    """Whether an artifact can't be on its way."""
    return run.conclusion not in _BY_ITSELF


async def why_no_result(api: GithubApi, run: GithubRun) -> Outcome:
    """The outcome of a run that has ended and left no artifact."""
    conclusion = run.conclusion or "of no conclusion"
    if conclusion in _REASONS:
        fault, reason = _REASONS[conclusion]
        return lost(reason, fault)
    if is_final(run):
        return lost(f"GitHub says that it is {conclusion}", Fault.SCHEDULER)
    return _of_jobs(await api.jobs(str(run.id)))


def _of_jobs(jobs: list[GithubJob]) -> Outcome:
    job = jobs[0] if jobs else GithubJob()
    if not job.runner_name:
        return lost("GitHub ended it before any runner had begun it", Fault.SCHEDULER)
    where = f"runner {job.runner_name[:80]!r}"
    ends = {step.name: step.conclusion for step in job.steps}
    ended = ends.get(JUDGE_STEP)
    if ended == "skipped":
        return lost(f"a step before the judge's failed on {where}")
    if ends.get(RESULT_STEP) == "failure":  # it is `success` also if there is no file
        return lost(
            f"GitHub didn't take the result of {where}: is the account's storage for artifacts "
            "full?",
            Fault.SCHEDULER,
        )
    if ended in ("success", "failure"):
        return lost(f"the judge ended without a result on {where}; the run's log at GitHub has why")
    return lost(f"GitHub lost {where} in the middle", Fault.SCHEDULER)
