"""How much of what devices can do a submission's scores reached."""

from dataclasses import replace

from kernelbot.accounts.model import User
from kernelbot.ranking.model import Comparisons, ScoreComparison
from kernelbot.services import Services
from kernelbot.submissions.model import Submission
from kernelbot.submissions.timings import limit_on


async def with_limits(
    services: Services, viewer: User, submission: Submission, compared: Comparisons
) -> tuple[ScoreComparison, ...]:
    """The comparisons with their limits. `submission`: theirs, with its results."""
    if not compared.found:
        return ()
    problem = (await services.boards.problem(viewer, submission.board)).spec
    return tuple(
        replace(
            one, limit=limit_on(submission, problem, one.device, services.devices.spec(one.device))
        )
        for one in compared.found
    )
