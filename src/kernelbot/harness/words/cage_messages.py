"""What the judge asks of the problem's processes, and what they answer: plain data, not trusted.

The problem's code runs in one process, or in one for each rank, which the cage's first process
forks. Each of them is asked in the same words.
"""

from dataclasses import dataclass

from kernelbot.harness.words.message import Message, Unchecked
from kernelbot.protocol import CaseValue, ProblemSpec


class CageRequest(Message):
    """What the judge says."""


class CageReply(Message):
    """What a process of the problem's says."""


@dataclass(frozen=True)
class LentPiece:
    """Where a piece of the judge's memory on a device lies. Its chunk's descriptor comes along if
    that is new to the process."""

    chunk: int
    chunk_bytes: int
    live: tuple[int, ...]
    """The chunks that the judge still has."""
    offset: int
    size: int


@dataclass(frozen=True)
class CallArguments:
    """What the data of a call are made of."""

    arguments: dict[str, CaseValue]
    seed: int | None


class LoadProblem(CageRequest, word="problem"):
    """Load the problem. Said once, first of all."""

    problem: ProblemSpec


class StartMember(CageRequest, word="member"):
    """Fork the process of one rank, whose channel comes along. Rank 0 ends all earlier ones."""

    rank: int
    world_size: int
    backend: str
    meeting: str
    """Name of the file by which the ranks find each other."""
    device: str


class MakeData(CageRequest, word="ask"):
    """Make the data of a call."""

    arguments: dict[str, CaseValue]
    seed: int | None
    arena: bool
    """Whether arrays on a GPU stay there, to be copied by `Fill`."""
    number: int
    """By which the question is named later. A rank knows the latest one alone, by 0."""
    forget: tuple[int, ...] = ()
    """Questions that nobody refers to any more."""
    works_out: bool = False
    """Whether the reference's answer is computed at once, as by `WorkOut`."""


class MakeAllData(CageRequest, word="ask all"):
    """Make the data of several calls, one after the other, in the host's memory."""

    calls: tuple[CallArguments, ...]
    number: int
    """Of the first question; each of the others has the next one."""
    forget: tuple[int, ...]
    """As in `MakeData`."""


class CheckAll(CageRequest, word="check all"):
    """Make the data of several calls again, and say what is wrong with an output of each. Memory
    with all outputs comes along."""

    calls: tuple[CallArguments, ...]
    values: Unchecked
    """The outputs' skeletons, in a list."""
    begins: tuple[int, ...]
    """Where in the memory each output's bytes begin."""
    works_out: bool
    """Whether the reference's answers are computed, as by `WorkOut`."""


class Fill(CageRequest, word="fill"):
    """Copy a question's arrays on the GPU into the judge's memory."""

    lent: LentPiece
    number: int


class WorkOut(CageRequest, word="work_out"):
    """Compute the reference's answer to a question."""

    number: int


class Compare(CageRequest, word="compare"):
    """What is wrong with an output? Memory with it comes along; a rank looks at its kind alone,
    with all the others."""

    value: Unchecked
    lent: LentPiece | None
    number: int
    works_out: bool = False
    """Whether the reference's answer is computed before, as by `WorkOut`."""


class Check(CageRequest, word="check"):
    """To a rank: have the problem's checker look at the output that was compared last."""

    number: int


class ProblemCodeFailed(CageReply, word="broken"):
    """The problem's own code failed. `full`: as there was no room on the device."""

    text: str
    full: bool = False


class ProblemLoaded(CageReply, word="loaded"):
    """To `LoadProblem`, or to `StartMember` once all ranks have met, with descriptions of the
    records that the problem's modules define."""

    records: Unchecked


class Asked(CageReply, word="asked"):
    """The skeleton of a call's data, which is in the memory that comes along, and how many bytes
    its arrays on the GPU need."""

    data: Unchecked
    device_bytes: int
    max_bytes: int | None = None
    """As in `WorkedOut`, if the answer was wanted at once."""
    worked_out_ns: int = 0
    """How long computing the answer took."""
    size_bytes: int = 0
    """How much of the memory the data take, from its beginning on."""


class AllAsked(CageReply, word="asked all"):
    """To `MakeAllData`. The data of all calls are in the memory that comes along."""

    data: Unchecked
    """Their skeletons, in a list."""
    begins: tuple[int, ...]
    """Where in the memory the data of each begin."""
    size_bytes: int
    """How much of the memory all of them take, from its beginning on."""


class AllChecked(CageReply, word="checked all"):
    """To `CheckAll`, once one is wrong, or none."""

    complaint: str
    """What is wrong with the output that was looked at last; empty if nothing."""
    checked: int
    """How many outputs were looked at."""
    worked_out_ns: int
    """How long computing the reference's answers took."""


class Filled(CageReply, word="filled"):
    """To `Fill`."""


class WorkedOut(CageReply, word="worked out"):
    """To `WorkOut`: what no right output exceeds, in bytes; None if that isn't known."""

    max_bytes: int | None


class OutputCompared(CageReply, word="compared"):
    """To `Compare` and `Check`: what is wrong with the output; empty if nothing."""

    complaint: str
    worked_out_ns: int = 0
    """How long computing the reference's answer took, if that was asked for with the output."""
