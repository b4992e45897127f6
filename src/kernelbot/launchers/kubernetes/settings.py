"""What a launcher for Kubernetes is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kernelbot.launchers.base import Traits


class Security(StrEnum):
    """What a job's container may do, so that the judge can make its sandbox in it."""

    CAPABILITIES = "capabilities"
    """SYS_ADMIN and SYS_PTRACE in a user namespace of the pod's own, with all of /proc."""
    PRIVILEGED = "privileged"
    """Everything: for clusters without user namespaces. It sees all devices of its node."""


class Operator(StrEnum):
    EXISTS = "Exists"
    EQUAL = "Equal"


class Effect(StrEnum):
    """What a taint does to pods that don't tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


@dataclass(frozen=True)
class Toleration:
    """A taint of nodes that a device's pods put up with."""

    key: str = ""
    """Empty: any, with `Exists` alone."""
    operator: Operator = Operator.EQUAL
    value: str = ""
    effect: Effect | None = None
    """None: all effects."""


@dataclass(frozen=True)
class KubernetesDevice:
    """What a pod of a device asks the cluster for."""

    resource: str | None
    """`nvidia.com/gpu`; None: no GPU."""
    image: str
    """The runner's."""
    count: int = 1
    """How many of the resource."""
    cpu: str = "4"
    memory: str = "16Gi"
    shared_memory: str = "8Gi"
    """Size of /dev/shm, within the memory."""
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    runtime_class: str | None = None
    queue: str | None = None
    """Kueue's LocalQueue; None: its jobs aren't Kueue's."""
    autoscaled: bool = False
    """Its nodes may not be there yet: a pod that waits brings one up."""


@dataclass(frozen=True)
class KubernetesSettings:
    namespace: str
    devices: Mapping[str, KubernetesDevice]
    image_pull_secrets: tuple[str, ...] = ()
    service_account: str | None = None
    """The pods' account, whose token they don't get; None: the namespace's default."""
    priority_class: str | None = None
    security: Security = Security.CAPABILITIES
    timeout_s: float = 20.0
    """For each request."""
    slack_s: float = 600.0
    """What a pod may take beyond the judge's own limits: its image has to be there first."""
    wait_s: float = 86_400.0
    """How long a job may wait for a node."""
    ttl_s: float = 86_400.0
    """After this time the cluster deletes a job that has ended and that nobody has forgotten."""
    image_s: float = 300.0
    """For how long an image may fail to be pulled."""
    settle_s: float = 10.0
    """How long what goes with the end of a job may take to show."""
    stuck_s: float = 60.0
    """After this time a pod that no node takes makes its device unavailable."""
    watch_s: float = 30.0
    """How long one watch lasts; one that has said nothing is followed by a list."""
    traits: Traits = field(
        default_factory=lambda: Traits(shortest_poll_s=0.1, longest_poll_s=1.0, check_s=15.0)
    )
