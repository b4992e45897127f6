"""What a launcher for Ray is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelbot.launchers.base import Traits


@dataclass(frozen=True)
class RayDevice:
    """What a task of a device asks the cluster for."""

    num_gpus: float
    num_cpus: float = 1.0
    resources: Mapping[str, float] = field(default_factory=dict)
    """Custom ones, such as `accelerator_type:H100`."""
    autoscaled: bool = False
    """Its nodes may not be there yet: a task that waits brings one up."""

    def asked(self) -> dict[str, float]:
        """By Ray's names of them, without those that it needs none of."""
        named = {"GPU": self.num_gpus, "CPU": self.num_cpus, **self.resources}
        return {name: amount for name, amount in named.items() if amount}


@dataclass(frozen=True)
class RaySettings:
    address: str
    """Where its head is: `10.0.0.1:6379`, from a node of the cluster; `ray://10.0.0.1:10001`, by
    Ray's client, from anywhere else."""
    devices: Mapping[str, RayDevice]
    namespace: str = "kernelbot"
    python: str = "python3"
    """On the nodes: 3.11 or later, with what problems need. Empty: the one that Ray runs with."""
    timeout_s: float = 30.0
    """For each request."""
    start_s: float = 120.0
    """For the process with Ray's package to be connected."""
    slack_s: float = 120.0
    """What a task may take beyond the judge's own limits."""
    no_sandbox_ok: bool = False
    traits: Traits = field(
        default_factory=lambda: Traits(shortest_poll_s=0.25, longest_poll_s=2.0, check_s=10.0)
    )
