"""Does the generator of a problem with a script of its own make the same data again?

Which data the script's timed calls get, it alone knows, but hardly others than its generator makes.
"""

import contextlib
import os
import time

from kernelbot.harness.inside.cage.loader import ProblemBroken
from kernelbot.harness.inside.cage.questions import Question
from kernelbot.harness.judge.problem.cage import Cage
from kernelbot.harness.judge.problem.examiner import Examiner
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.harness.timing.recurrence import Recurrence
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.seeds import call_seed, with_seed
from kernelbot.protocol import Case, JobSpec
from kernelbot.protocol.recurring import MOST_CALLS, has_generator, may_recur

_LONGEST_S = 0.5
"""For the data of each workload, of which at least two calls are looked at."""


def recurring_data(job: JobSpec, client: RunnerClient) -> str:
    """What is said of a workload whose data the problem's generator makes again with other seeds.
    Empty if there is none, if the problem knows it, or if its generator isn't known or can't be
    asked, which `problem check` says. The problem's process has ended when this returns.

    Raises `SandboxUnavailable`.
    """
    problem = job.problem
    if problem.recurring_data or problem.multi_gpu or not has_generator(problem):
        return ""
    with contextlib.suppress(ProblemBroken), contextlib.closing(Cage(job, client)) as cage:
        examiner, secret = Examiner(cage, Plan.for_job(job)), os.urandom(32)
        for index, case in enumerate(problem.benchmarks):
            if _recurs(examiner, case, index, secret):
                return may_recur(case.spec)
    return ""


def _recurs(examiner: Examiner, case: Case, index: int, secret: bytes) -> bool:
    """Raises `ProblemBroken`."""

    def question(call: int) -> Question:
        seed = call_seed(secret, index, call)
        return examiner.ask(with_seed(case.args, seed), seed, by_host=True)

    known = question(0)  # the first one waits until the problem is loaded
    until = time.monotonic() + _LONGEST_S
    seen = Recurrence(known, question)
    seen.look(0, known)
    for call in range(1, MOST_CALLS):
        seen.look(call, question(call))
        if seen.found or time.monotonic() > until:
            break
    return seen.found
