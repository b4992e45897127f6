"""What a job comes to on this machine, decided once: all that judge it are given its plan."""

from dataclasses import dataclass, replace

from kernelbot.protocol import JobSpec, Lang, Phase, Vendor
from kernelbot.protocol.phases import most_gpus, most_ranks, phases_of


def is_disturbed_by_forks(job: JobSpec) -> bool:
    """Whether judges and runners for later jobs wait to be forked until this one has ended.

    What measures needs the processors. A judge that waits for a GPU's job holds memory there.
    """
    measures = any(phase is not Phase.TEST for phase in phases_of(job))
    return measures or job.device.vendor is not Vendor.CPU


@dataclass(frozen=True)
class Plan:
    """One job, and the answers to what is asked of it in many places."""

    job: JobSpec
    """With the limits that are in force."""
    on_gpu: bool
    """Whether it is for a GPU of any vendor."""
    in_arenas: bool
    """Whether data and outputs can lie in memory of the judge's on the GPUs, as far as that can be
    told without touching them."""
    has_ranks: bool
    """Whether several runners are called together."""
    most_ranks: int
    """How many there are at most."""
    gpus: int | None
    """How many GPUs its runs use; None if the problem doesn't say: all that there are."""
    is_duel: bool
    """Whether two kernels are called in turn."""
    outputs: tuple[int, ...] | None
    """Which leaves of a compiled problem's data are outputs; None for Python."""
    secret_seed: int | None
    """Mixed into the seeds of the cases; None if these are public."""

    @classmethod
    def for_job(cls, job: JobSpec, *, in_arenas: bool = False) -> "Plan":
        """The plan of a job whose limits are those in force."""
        problem = job.problem
        return cls(
            job,
            on_gpu=job.device.vendor is not Vendor.CPU,
            in_arenas=in_arenas,
            has_ranks=problem.multi_gpu,
            most_ranks=most_ranks(problem),
            gpus=most_gpus(problem),
            is_duel=job.opponent is not None,
            outputs=None if problem.lang is Lang.PY else problem.config.outputs,
            secret_seed=job.seed if job.secret else None,
        )

    @property
    def device(self) -> str:
        """Where runners compute, as torch names it."""
        return "cuda" if self.on_gpu else "cpu"

    @property
    def backend(self) -> str:
        """How ranks communicate, as torch names it."""
        return "nccl" if self.on_gpu else "gloo"

    def with_cache_bytes(self, cache_bytes: int) -> "Plan":
        """The same for a device with so large a cache, unless that is configured."""
        if self.job.device.cache_bytes is not None:
            return self
        device = replace(self.job.device, cache_bytes=cache_bytes)
        return replace(self, job=replace(self.job, device=device))
