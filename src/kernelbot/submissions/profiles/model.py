"""A profile of one workload as a page shows it: flame graphs, limits and tables."""

from enum import StrEnum

from kernelbot.protocol.late import dataclass


class CallKind(StrEnum):
    """What was called."""

    OPERATOR = "operator"
    """An operator of the framework."""
    FUNCTION = "function"
    """A function of Python."""
    DRIVER = "driver"
    """A call of the GPU's runtime or driver."""
    KERNEL = "kernel"
    """A kernel on the GPU, or a copy of its memory."""
    OTHER = "other"


class CallSide(StrEnum):
    """Where calls took their time."""

    PROCESSOR = "processor"
    GPU = "GPU"


@dataclass(frozen=True)
class FlameRectangle:
    """A rectangle of a flame graph: all calls of one name from the same callers. `left` and `share`
    are parts of the graph's width and of its time, from 0 to 1; `depth` begins at 0. `self_us`:
    what isn't in calls that it made."""

    name: str
    kind: CallKind
    depth: int
    left: float
    share: float
    calls: int
    total_us: float
    self_us: float


@dataclass(frozen=True)
class NameRow:
    """All calls of one name, whoever called. `share`: of `self_us`, of the graph's time."""

    name: str
    kind: CallKind
    calls: int
    total_us: float
    self_us: float
    share: float


@dataclass(frozen=True)
class OmittedCalls:
    """What isn't shown: so many names or calls, and their share of the time."""

    count: int
    share: float


@dataclass(frozen=True)
class FlameGraph:
    """The calls at one place. `rows`: how deep the cells go; `least_share`: narrower cells aren't
    drawn; `not_drawn`: the calls of these; `names`: those with the most time of their own first;
    `not_listed`: the others."""

    place: CallSide
    total_us: float
    rows: int
    cells: tuple[FlameRectangle, ...]
    least_share: float
    not_drawn: OmittedCalls
    names: tuple[NameRow, ...]
    not_listed: OmittedCalls


@dataclass(frozen=True)
class Table:
    """Texts in rows, each as long as `headers`."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ReachedLimit:
    """How much of a GPU's limit a kernel reached, in percent from 0 to 100."""

    name: str
    percent: float
    detail: str = ""


@dataclass(frozen=True)
class TitledTable:
    """A section of a tool's report."""

    title: str
    table: Table


@dataclass(frozen=True)
class GpuKernel:
    """What Nsight Compute found out about one kernel."""

    name: str
    limits: tuple[ReachedLimit, ...]
    tables: tuple[TitledTable, ...]


@dataclass(frozen=True)
class ReportSection:
    """A part of the report: sentences, a table and the text itself, of which some are empty."""

    title: str
    sentences: tuple[str, ...] = ()
    table: Table | None = None
    text: str = ""


@dataclass(frozen=True)
class ReadProfile:
    """All of one workload. `trace_note`: why there is no flame graph, or what it lacks; empty: it
    is whole, or there was no trace."""

    kernels: tuple[GpuKernel, ...]
    graphs: tuple[FlameGraph, ...]
    sections: tuple[ReportSection, ...]
    trace_note: str
