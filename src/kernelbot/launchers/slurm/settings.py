"""What a Slurm cluster's launcher is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelbot.launchers.base import Traits

MAX_SCRIPT_BYTES = 3_500_000
"""Slurm's own limit is 4 MB unless the site says otherwise."""


@dataclass(frozen=True)
class SlurmDevice:
    """What a job of a device asks Slurm for."""

    gres: str | None
    """`gpu:h100:1`; None: no GPU."""
    partition: str | None = None
    """None: the cluster's default."""
    options: tuple[str, ...] = ()
    """Further ones of sbatch."""
    reservation: str | None = None
    """Whose nodes run its jobs, if the site lends them so."""

    @property
    def names_a_reservation(self) -> bool:
        """Whether its jobs may run on reserved nodes."""
        named = (option.startswith("--reservation") for option in self.options)
        return self.reservation is not None or any(named)


@dataclass(frozen=True)
class SlurmSettings:
    work_dir: str
    """Absolute; login and compute nodes see the same folder under it. It is ours alone."""
    devices: Mapping[str, SlurmDevice]
    prefix: tuple[str, ...] = ()
    """What each command is put behind, to reach the cluster: `ssh login01`."""
    python: str = "python3"
    """On the nodes: 3.11 or later."""
    setup: tuple[str, ...] = ()
    """Lines of shell before the harness starts, such as `module load cuda`."""
    timeout_s: float = 20.0
    """For each command."""
    slack_s: float = 300.0
    """What a job may take beyond the judge's own limits, before Slurm ends it."""
    settle_s: float = 60.0
    """How long after its end a job's result may take to show on a shared file system."""
    warm_idle_s: float = 0.0
    """How long a node that has judged a job waits for the next; 0: each job has one of its own."""
    warm_limit_s: float = 3600.0
    """How long such a node lives."""
    max_script_bytes: int = MAX_SCRIPT_BYTES
    no_sandbox_ok: bool = False
    traits: Traits = field(
        default_factory=lambda: Traits(shortest_poll_s=0.25, longest_poll_s=10.0, check_s=10.0)
    )
