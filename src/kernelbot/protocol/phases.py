"""The phases of each mode, the cases of each phase, and how long it may take."""

from kernelbot.protocol.enums import Mode, Phase, Vendor
from kernelbot.protocol.job import Case, JobSpec, ProblemSpec

PHASES = {
    Mode.TEST: (Phase.TEST,),
    Mode.BENCHMARK: (Phase.TEST, Phase.BENCHMARK),
    Mode.LEADERBOARD: (Phase.TEST, Phase.LEADERBOARD),
    Mode.PROFILE: (Phase.TEST, Phase.PROFILE),
}
"""The phases of each mode, in their order."""
TIMED = frozenset({Phase.BENCHMARK, Phase.LEADERBOARD})
LONGEST_TURN_WAIT_S = 300.0
"""So long one job waits in all for other measurements on its machine, beside its own limits."""


def phases_of(job: JobSpec) -> tuple[Phase, ...]:
    """In their order; each begins only if the one before was accepted. A build step has none."""
    return () if job.build_only else PHASES[job.mode]


def judged_mode(mode: Mode, *, secret: bool) -> Mode:
    """The mode in which a run is judged: a ranked submission is tested on the problem's own seeds,
    and timed once, on secret ones."""
    return Mode.TEST if mode is Mode.LEADERBOARD and not secret else mode


def cases_of(problem: ProblemSpec, phase: Phase) -> list[tuple[int, Case]]:
    """The cases of a phase, each with its number in the problem: the tests, or the workloads.

    If only the last workload counts, it is the only one.
    """
    if phase is Phase.TEST:
        return list(enumerate(problem.tests))
    workloads = list(enumerate(problem.benchmarks))
    return workloads[-1:] if problem.ranking_by.only_last else workloads


def world_size(case: Case) -> int:
    """How many ranks a case has."""
    size = case.args.get("world_size")
    return size if type(size) is int else 1


def most_ranks(problem: ProblemSpec) -> int:
    """How many ranks a problem's cases have at most; 1 if it knows none."""
    if not problem.multi_gpu:
        return 1
    return max((world_size(case) for case in (*problem.tests, *problem.benchmarks)), default=1)


def most_gpus(problem: ProblemSpec) -> int | None:
    """How many GPUs a problem's runs use; None if it doesn't say: all that there are."""
    cases = (*problem.tests, *problem.benchmarks)
    if problem.multi_gpu and not all("world_size" in case.args for case in cases):
        return None
    return most_ranks(problem)


def limit_s(job: JobSpec, phase: Phase) -> float:
    """How long a phase may take. A duel's timed one has the time of both timed phases, as two
    kernels are loaded and called in it."""
    timeouts = job.problem.timeouts
    if phase is Phase.TEST:
        return timeouts.test_s
    if job.opponent is not None:
        return timeouts.benchmark_s + timeouts.ranked_s
    return timeouts.ranked_s if phase is Phase.LEADERBOARD else timeouts.benchmark_s


def all_limits_s(job: JobSpec) -> float:
    """How long the build and all phases of a job may take together; in a duel both kernels are
    built and tested."""
    kernels = 1 if job.opponent is None else 2
    phases = phases_of(job)
    timed_s = sum(limit_s(job, phase) for phase in phases if phase in TIMED)
    others_s = sum(limit_s(job, phase) for phase in phases if phase not in TIMED)
    return kernels * (job.problem.timeouts.compile_s + others_s) + timed_s


def longest_turn_wait_s(job: JobSpec) -> float:
    """How long a job may wait in all for other measurements on a machine of ours."""
    return LONGEST_TURN_WAIT_S if job.device.vendor is Vendor.CPU else 0.0
