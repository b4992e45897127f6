"""The samples of runs, and who sees them."""

from kernelbot.domain.values import from_fields
from kernelbot.duels.model import Duel, DuelState
from kernelbot.protocol import DuelResult, RunResult, Verdict
from kernelbot.runs.model import Run
from kernelbot.runs.samples.model import PairedWorkload, SampledWorkload


def may_see_samples(run: Run, *, sees_secret: bool, seed_is_shared: bool) -> bool:
    """Whether a run's samples are for somebody who sees its submission. `seed_is_shared`: all
    secret runs of the board have the same seed, or had when this one was judged.

    An author's code can hide in its times what it saw of its data. Of a seed that is never used
    again that tells nothing; of a shared one it does. Of a failed run samples would tell where it
    failed.
    """
    if not run.secret or sees_secret:
        return True
    return run.verdict is Verdict.ACCEPTED and not seed_is_shared


def may_see_pairs(duel: Duel, *, sees_secret: bool, seed_is_shared: bool) -> bool:
    """Whether the samples of a duel, which is always on secret data, are for somebody who sees both
    submissions. As for runs: what failed in it or is doubtful isn't told."""
    return sees_secret or (duel.state is DuelState.MEASURED and not seed_is_shared)


def sampled_workloads(run: Run, result: RunResult, *, names_data: bool) -> list[SampledWorkload]:
    """What was timed in the run, by phase. `names_data`: with the workloads' specifications."""
    return [
        from_fields(
            SampledWorkload,
            run,
            load,
            run_id=run.id,
            phase=phase.phase,
            workload=index,
            spec=load.spec if names_data else None,
        )
        for phase in result.phases
        for index, load in enumerate(phase.workloads)
    ]


def paired_workloads(duel: DuelResult, *, names_data: bool) -> list[PairedWorkload]:
    """What was timed in a duel. `names_data`: as in `sampled_workloads`."""
    return [
        from_fields(PairedWorkload, load, workload=index, spec=load.spec if names_data else None)
        for index, load in enumerate(duel.workloads)
    ]
