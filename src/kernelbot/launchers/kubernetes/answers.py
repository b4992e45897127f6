"""What Kubernetes' API answers, as far as we read it."""

from typing import Annotated, Generic, TypeVar

from pydantic import Field

from kernelbot.launchers.rest.client import Said

ATTEMPT = "kernelbot/attempt"
"""The label of all that was made for an attempt."""
_TRUE = "True"

Uid = Annotated[str, Field(pattern=r"^[0-9A-Za-z-]{1,64}$")]
Name = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
Version = Annotated[str, Field(alias="resourceVersion", max_length=100)]


class Owner(Said):
    """Who an object goes with."""

    uid: Uid


class Meta(Said):
    """What every object says of itself."""

    name: Name
    uid: Uid
    version: Version = ""
    created_at: Annotated[str, Field(alias="creationTimestamp")] = ""
    """By the cluster's clock: such times are compared with each other alone."""
    deleted_at: Annotated[str | None, Field(alias="deletionTimestamp")] = None
    labels: dict[str, str] | None = None
    owners: Annotated[tuple[Owner, ...] | None, Field(alias="ownerReferences")] = None


class Condition(Said):
    """Something that is so, isn't, or may be."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None

    @property
    def holds(self) -> bool:
        """Whether it is so."""
        return self.status == _TRUE


class Item(Said):
    """Base of objects."""

    meta: Annotated[Meta, Field(alias="metadata")]

    @property
    def attempt(self) -> str:
        """The one that it was made for; empty: it isn't ours."""
        return (self.meta.labels or {}).get(ATTEMPT, "")


class JobSpecSaid(Said):
    """What a Job was asked to be."""

    suspend: bool | None = None


class JobStatus(Said):
    """What has become of a Job."""

    conditions: tuple[Condition, ...] | None = None


class Job(Item):
    """A `Job` of batch/v1."""

    spec: JobSpecSaid = JobSpecSaid()
    status: JobStatus = JobStatus()

    @property
    def end(self) -> Condition | None:
        """How it ended; None: it didn't."""
        ends = (each for each in self.status.conditions or () if each.type in _ENDS)
        return next((each for each in ends if each.holds), None)


_ENDS = frozenset(("Complete", "Failed"))


class Waiting(Said):
    """Why a container hasn't begun."""

    reason: str | None = None
    message: str | None = None


class Terminated(Said):
    """How a container has ended."""

    exit_code: Annotated[int, Field(alias="exitCode")]
    reason: str | None = None
    message: str | None = None


class ContainerState(Said):
    """One of them at most."""

    waiting: Waiting | None = None
    terminated: Terminated | None = None


class Container(Said):
    """The status of one container."""

    name: str
    state: ContainerState = ContainerState()


class PodStatus(Said):
    """What has become of a pod."""

    phase: str = "Pending"
    reason: str | None = None
    message: str | None = None
    conditions: tuple[Condition, ...] | None = None
    containers: Annotated[tuple[Container, ...] | None, Field(alias="containerStatuses")] = None
    before: Annotated[tuple[Container, ...] | None, Field(alias="initContainerStatuses")] = None


class PodSpecSaid(Said):
    """What a pod was asked to be, and where."""

    node: Annotated[str | None, Field(alias="nodeName")] = None


class Pod(Item):
    """A `Pod` of v1."""

    spec: PodSpecSaid = PodSpecSaid()
    status: PodStatus = PodStatus()

    def condition(self, kind: str) -> Condition | None:
        """The condition of this type."""
        return next((each for each in self.status.conditions or () if each.type == kind), None)

    def is_of(self, job: Job) -> bool:
        """Whether the Job made it."""
        return any(owner.uid == job.meta.uid for owner in self.meta.owners or ())


class Taint(Said):
    """What keeps pods from a node."""

    key: str
    value: str | None = None
    effect: str


class NodeSpec(Said):
    """Which pods a node takes."""

    unschedulable: bool | None = None
    taints: tuple[Taint, ...] | None = None


class NodeStatus(Said):
    """What a node has, and whether it is well."""

    allocatable: dict[str, str] | None = None
    conditions: tuple[Condition, ...] | None = None


class Node(Item):
    """A `Node` of v1."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class QuotaStatus(Said):
    """A quota's limits, and what is used of them."""

    hard: dict[str, str] | None = None
    used: dict[str, str] | None = None


class Quota(Item):
    """A `ResourceQuota` of v1."""

    status: QuotaStatus = QuotaStatus()


class Event(Said):
    """An `Event` of v1: something that somebody noticed about an object."""

    message: str | None = None


class Status(Said):
    """A `Status` of v1: why something wasn't done."""

    message: str | None = None
    reason: str | None = None
    code: int | None = None


class ListMeta(Said):
    """What a list says of itself."""

    version: Version = ""
    more: Annotated[str | None, Field(alias="continue")] = None


I = TypeVar("I", bound=Said)  # noqa: E741  # an item


class Listed(Said, Generic[I]):
    """A list of objects, or a part of one."""

    meta: Annotated[ListMeta, Field(alias="metadata")]
    items: tuple[I, ...]


class ChangeType(Said):
    """Which kind of change a line of a watch tells of."""

    type: str


class Change(Said, Generic[I]):
    """One line of a watch, once its type is known."""

    object: I


class Bookmark(Said):
    """The object of a change that only says how far a watch has come."""

    meta: Annotated[ListMeta, Field(alias="metadata")]
