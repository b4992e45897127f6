"""What the judge asks of a runner, and what the runner answers. Nothing that it says is trusted."""

from dataclasses import dataclass
from enum import StrEnum

from kernelbot.harness.words.message import Message, Unchecked

CHANGED = "changed"


class RunnerRequest(Message):
    """What the judge says."""


class RunnerReply(Message):
    """What the runner says."""


@dataclass(frozen=True)
class RankPosition:
    """Which rank of how many a process is, and how these meet; see `join`."""

    rank: int
    world_size: int
    backend: str
    meeting: str
    """The address at which they connect, as torch's `init_method`."""


@dataclass(frozen=True)
class NewMemory:
    """What new memory comes with a request, as descriptors in this order: buffers, and arenas by
    their sizes in bytes, 0 for those that aren't new."""

    input: bool = False
    output: bool = False
    input_arena: int = 0
    second_input_arena: int = 0
    output_arena: int = 0


class SetUp(RunnerRequest, word="setup"):
    """Before any code of the author's: the problem's shared files, by name."""

    files: dict[str, str]
    modules: tuple[str, ...]
    device: str
    fresh_output: bool
    outputs: tuple[int, ...] | None
    """Which leaves of a compiled problem's data are outputs; None for Python."""
    position: RankPosition | None = None
    """Where one rank of several stands; None: there is one alone."""


class Load(RunnerRequest, word="load"):
    """Import the author's file. With `builds`, memory comes along with so many bytes."""

    name: str
    text: str
    builds: int = 0


class LoadLibrary(RunnerRequest, word="load_library"):
    """Load the author's shared object, which has so many bytes in the memory that comes along.
    `emulates`: the processor runs its CUDA kernels, so it says more of its calls."""

    size: int
    outputs: tuple[int, ...]
    emulates: bool


class Prepare(RunnerRequest, word="prepare"):
    """Get a call ready whose output will be copied. It begins upon `GoAndCopy`."""

    data: Unchecked
    kernel: str
    reuse: bool
    input: bool
    output: bool
    """Whether new memory comes along."""
    probes: Unchecked = None
    """If there are any, the call begins at once, and these probes of its output are taken."""


class Attach(RunnerRequest, word="attach"):
    """Get timed calls ready whose data the judge writes just before they begin."""

    data: Unchecked
    """What each call is given."""
    bases: Unchecked
    """Where each call's data lies."""
    kernel: str
    turn: int
    input: bool
    record: bool
    """Whether new memory comes along."""


class Lay(RunnerRequest, word="lay"):
    """Get a call ready whose data and output lie in arenas."""

    data: Unchecked
    kernel: str
    view: int
    memory: NewMemory


class Grow(RunnerRequest, word="grow"):
    """Hand the output over once more, in memory that is large enough."""

    memory: NewMemory


class Go(RunnerRequest, word="go"):
    """Call the kernel."""


class GoAndCopy(RunnerRequest, word="go and copy"):
    """Call the kernel, and take these probes of its output. `cold`: flush the GPU's cache first."""

    probes: Unchecked
    cold: bool


class Take(RunnerRequest, word="take"):
    """Copy the output of the call that has returned, and describe it. `inputs`: then describe the
    inputs as well, as by `DescribeInputs`."""

    inputs: bool = False


class Copy(RunnerRequest, word="copy"):
    """Copy the last output once more, into the memory that comes along."""


class Tell(RunnerRequest, word="tell"):
    """Describe the output in the arena."""


class Forget(RunnerRequest, word="forget"):
    """The output in the arena is of no use."""


class Mirror(RunnerRequest, word="mirror"):
    """From now on the kernel `mirror` returns so much: a control runner's."""

    sizes: tuple[int, ...]
    host_bytes: int
    in_place: bool


class DescribeInputs(RunnerRequest, word="inputs"):
    """Describe the last call's inputs as they are now."""


class DescribeInputsInArena(RunnerRequest, word="compare inputs"):
    """The same of a call in an arena, at whose arrays the judge looks itself."""


class ProfileCall(RunnerRequest, word="profile"):
    """Profile a call. Memory for its data and for the trace comes along."""

    data: Unchecked


class Repeat(RunnerRequest, word="repeat"):
    """Get ready for calls in a row, which begin upon `Go`. Memory with their data comes along."""

    data: Unchecked


class PackBuilds(RunnerRequest, word="builds"):
    """Pack what the submission has compiled for itself."""


class HandOver(RunnerRequest, word="hand over"):
    """Write the pack into the memory that comes along."""


class Finish(RunnerRequest, word="finish"):
    """Nobody needs this runner any more."""


class RefusalReason(StrEnum):
    """Why something wasn't done that was asked for."""

    NOT_COMPILED = "not_compiled"
    RAISED = "raised"
    NO_ROOM = "no_room"
    MEMORY = "memory"
    OUT_OF_BOUNDS = "out_of_bounds"
    EXIT = "exit"
    UNSUPPORTED = "unsupported"
    MISSING = "missing"


class RequestRefused(RunnerReply, word="refused"):
    """What was asked for wasn't done."""

    why: RefusalReason
    text: str = ""
    gpu_fault: int = 0
    """What the driver says of the GPU afterwards; 0 if it is sound."""


class SharedFileFailed(RunnerReply, word="broken"):
    """A file failed that the problem shares with runners."""

    text: str


class NoGpu(RunnerReply, word="no_gpu"):
    """There is no GPU to be found."""

    text: str


class IsSetUp(RunnerReply, word="set up"):
    """To `SetUp`. `gpu`: which one it computes on; empty without one whose memory is shared."""

    gpu: str


class Loaded(RunnerReply, word="loaded"):
    """To `Load` and `LoadLibrary`."""


class IsReady(RunnerReply, word="ready"):
    """The next call can begin."""


class Returned(RunnerReply, word="returned"):
    """A call whose output will be copied has returned."""


class Done(RunnerReply, word="done"):
    """A call's output, copied if it `fits`."""

    value: Unchecked
    size: int
    fits: bool
    aliased: bool
    claim_ns: int
    start_ns: int
    inputs: Unchecked = None
    """As in `InputsDescribed`, if that was asked for."""


class DoneInPlace(RunnerReply, word="done in place"):
    """The outputs of timed calls, which lie at these addresses."""

    value: Unchecked
    size: int
    at: Unchecked


class ReturnedInArena(RunnerReply, word="returned in arena"):
    """A call has returned; if it `fits`, its output lies in the arena."""

    size: int
    device_size: int
    fits: bool
    claim_ns: int
    start_ns: int


class Grown(RunnerReply, word="grown"):
    """To `Grow`."""


class ValueDescribed(RunnerReply, word="described"):
    """To `Tell`."""

    value: Unchecked
    aliased: bool


class Copied(RunnerReply, word="copied"):
    """To `Copy`."""


class Mirrored(RunnerReply, word="mirrored"):
    """To `Mirror`."""


class InputsDescribed(RunnerReply, word="inputs"):
    """The skeleton of the inputs as they are now; `CHANGED` if they can't be described any more."""

    value: Unchecked


class Profiled(RunnerReply, word="profiled"):
    """A table, and how many bytes the trace has."""

    text: str
    size: int


class Repeated(RunnerReply, word="repeated"):
    """To `Repeat`, once its calls were made."""

    calls: int


class Packed(RunnerReply, word="packed"):
    """How many bytes the pack has; 0 if there is nothing."""

    size: int


class HandedOver(RunnerReply, word="handed over"):
    """To `HandOver`."""


class Bye(RunnerReply, word="bye"):
    """To `Finish`."""
