"""What Kubernetes' API answers, as far as we read it."""

from typing import Annotated, Generic, TypeVar

from pydantic import Field

from kernelbot.launchers.rest.client import SchedulerAnswer

ATTEMPT = "kernelbot/attempt"
"""The label of all that was made for an attempt."""
_TRUE = "True"

Uid = Annotated[str, Field(pattern=r"^[0-9A-Za-z-]{1,64}$")]
Name = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
Version = Annotated[str, Field(alias="resourceVersion", max_length=100)]


class ObjectOwner(SchedulerAnswer):
    """Who an object goes with."""

    uid: Uid


class Meta(SchedulerAnswer):
    """What every object says of itself."""

    name: Name
    uid: Uid
    version: Version = ""
    created_at: Annotated[str, Field(alias="creationTimestamp")] = ""
    """By the cluster's clock: such times are compared with each other alone."""
    deleted_at: Annotated[str | None, Field(alias="deletionTimestamp")] = None
    labels: dict[str, str] | None = None
    owners: Annotated[tuple[ObjectOwner, ...] | None, Field(alias="ownerReferences")] = None


class Condition(SchedulerAnswer):
    """Something that is so, isn't, or may be."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None

    @property
    def holds(self) -> bool:
        return self.status == _TRUE


class KubernetesObject(SchedulerAnswer):
    """Base of objects."""

    meta: Annotated[Meta, Field(alias="metadata")]

    @property
    def attempt(self) -> str:
        """The one that it was made for; empty: it isn't ours."""
        return (self.meta.labels or {}).get(ATTEMPT, "")


class KubernetesJobSpec(SchedulerAnswer):
    suspend: bool | None = None


class JobStatus(SchedulerAnswer):
    conditions: tuple[Condition, ...] | None = None


class KubernetesJob(KubernetesObject):
    spec: KubernetesJobSpec = KubernetesJobSpec()
    status: JobStatus = JobStatus()

    @property
    def end(self) -> Condition | None:
        """How it ended; None: it didn't."""
        ends = (each for each in self.status.conditions or () if each.type in _ENDS)
        return next((each for each in ends if each.holds), None)


_ENDS = frozenset(("Complete", "Failed"))


class ContainerWaiting(SchedulerAnswer):
    """Why a container hasn't begun."""

    reason: str | None = None
    message: str | None = None


class Terminated(SchedulerAnswer):
    exit_code: Annotated[int, Field(alias="exitCode")]
    reason: str | None = None
    message: str | None = None


class ContainerState(SchedulerAnswer):
    """A container's state: at most one field is set."""

    waiting: ContainerWaiting | None = None
    terminated: Terminated | None = None


class Container(SchedulerAnswer):
    name: str
    state: ContainerState = ContainerState()


class PodStatus(SchedulerAnswer):
    phase: str = "Pending"
    reason: str | None = None
    message: str | None = None
    conditions: tuple[Condition, ...] | None = None
    containers: Annotated[tuple[Container, ...] | None, Field(alias="containerStatuses")] = None
    before: Annotated[tuple[Container, ...] | None, Field(alias="initContainerStatuses")] = None


class PodSpec(SchedulerAnswer):
    node: Annotated[str | None, Field(alias="nodeName")] = None


class Pod(KubernetesObject):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    def condition(self, kind: str) -> Condition | None:
        return next((each for each in self.status.conditions or () if each.type == kind), None)

    def is_of(self, job: KubernetesJob) -> bool:
        return any(owner.uid == job.meta.uid for owner in self.meta.owners or ())


class Taint(SchedulerAnswer):
    key: str
    value: str | None = None
    effect: str


class NodeSpec(SchedulerAnswer):
    unschedulable: bool | None = None
    taints: tuple[Taint, ...] | None = None


class NodeStatus(SchedulerAnswer):
    """What a node has, and whether it is well."""

    allocatable: dict[str, str] | None = None
    conditions: tuple[Condition, ...] | None = None


class KubernetesNode(KubernetesObject):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class QuotaScopes(SchedulerAnswer):
    """Which names a selector has: what they select isn't looked at."""

    expressions: Annotated[
        tuple[dict[str, object], ...] | None, Field(alias="matchExpressions")
    ] = None


class QuotaSpec(SchedulerAnswer):
    scopes: tuple[str, ...] | None = None
    selector: Annotated[QuotaScopes | None, Field(alias="scopeSelector")] = None


class QuotaStatus(SchedulerAnswer):
    """A quota's limits, and what is used of them."""

    hard: dict[str, str] | None = None
    used: dict[str, str] | None = None


class Quota(KubernetesObject):
    spec: QuotaSpec = QuotaSpec()
    status: QuotaStatus = QuotaStatus()

    @property
    def is_of_all(self) -> bool:
        """Whether it counts all pods of its namespace, and not only some, such as those of a
        priority class."""
        selector = self.spec.selector
        return not self.spec.scopes and not (selector and selector.expressions)


class KubernetesEvent(SchedulerAnswer):
    """An `KubernetesEvent` of v1: something that somebody noticed about an object."""

    message: str | None = None


class Status(SchedulerAnswer):
    """A `Status` of v1: why something wasn't done."""

    message: str | None = None
    reason: str | None = None
    code: int | None = None


class ListMeta(SchedulerAnswer):
    version: Version = ""
    more: Annotated[str | None, Field(alias="continue")] = None


I = TypeVar("I", bound=SchedulerAnswer)  # noqa: E741  # an item


class ObjectList(SchedulerAnswer, Generic[I]):
    meta: Annotated[ListMeta, Field(alias="metadata")]
    items: tuple[I, ...]


class ChangeType(SchedulerAnswer):
    """Which kind of change a line of a watch tells of."""

    type: str


class Change(SchedulerAnswer, Generic[I]):
    """One line of a watch, once its type is known."""

    object: I


class Bookmark(SchedulerAnswer):
    """The object of a change that only says how far a watch has come."""

    meta: Annotated[ListMeta, Field(alias="metadata")]
