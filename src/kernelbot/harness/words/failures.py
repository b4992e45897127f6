"""What a submission can be blamed for, and how a runner's end is read."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from kernelbot.harness.words.runner_messages import (
    Done,
    DoneInPlace,
    RefusalReason,
    RequestRefused,
    ReturnedInArena,
    RunnerReply,
)
from kernelbot.harness.words.sandbox import RunnerExit, SandboxUnavailable
from kernelbot.harness.words.sharing import excuse, is_hardware_fault
from kernelbot.harness.words.windows import Window
from kernelbot.protocol import Limits, Phase, Verdict
from kernelbot.protocol.result_size import MAX_TEXT

R = TypeVar("R", bound=RunnerReply)
_LONGEST_NS = 10**15
"""The longest time of a call that anybody waits for; far below what a float or the kernel's clocks
can hold."""
_LATEST_NS = 1 << 62
_MAX_SHOWN = 300
_WAITING_SHARE = 0.1
"""The part of a limit that waiting has to be before it is told: less than that is on every machine.
"""
_OTHERS_SHARE = 0.5
"""If others had its processor for more of a limit than this, its author didn't exceed it."""
MORE_S = 100.0
"""What a second attempt has beyond its limit: the platform waits for the compile limit as well, of
which an attempt that gets to its tests has hardly used anything."""
NO_KERNEL = (
    "The submission defines no function custom_kernel(data). Define it at the file's top level."
)
_WRITE_WITHIN = "Write only within the arrays that it is given, up to their lengths."
_LEAVE_ALONE = (
    "Leave the descriptors and threads alone that your process had before your file was imported."
)
_ENDED_BY: dict[int, str] = {
    signal.SIGSEGV: "Check indices, pointers and recursion: it used memory that isn't its own.",
    signal.SIGBUS: "Check mappings and their sizes: it used memory that a file doesn't have.",
    signal.SIGILL: "Use the processor's own instructions alone (-march=native is set).",
    signal.SIGFPE: "Check divisions of whole numbers: one was by zero.",
    signal.SIGABRT: "Read what it printed: it, or a library, ended the process on purpose.",
    signal.SIGSYS: "Use no system call that the sandbox refuses.",
}
"""What to do about it, by the signal."""
_AS_LARGE = "Return an output of the reference's shape and dtype."
_ENDED_BY_ANY = "Send no signals to your own process, and let none of its processes do so."


class AuthorFailure(Exception):
    """The submission's fault: a verdict and one sentence, with what was seen."""

    def __init__(self, verdict: Verdict, message: str, evidence: str = "") -> None:
        super().__init__(message)
        self.verdict = verdict
        self.message = message[:MAX_TEXT]
        self.evidence = evidence[:MAX_TEXT]
        self.fatal = True
        """Whether the runner is of no more use."""
        self.disputable = False
        """Whether it may not be the author's doing, as it rests on clocks alone or on a signal that
        anybody can send: a second attempt must confirm it."""
        self.of_opponent = False
        """Whether it is the opponent's, in a duel."""
        self.waited_s = 0.0
        """How long it waited for a processor until a limit was exceeded."""
        self.kept_waiting_s = 0.0
        """How long of that others had its processor, none of its own threads and processes."""
        self.had_s = 0.0
        """How long a second attempt took, if it had more time than its limit; 0: it had not."""
        self.excuse = ""
        """If that is why it was late: what is said if it happens again, which is nobody's fault."""
        self.is_gpu_fault = False
        """Whether the runner says that its work on the GPU has failed."""


@contextmanager
def blaming(*, opponent: bool) -> Iterator[None]:
    """Within, an `AuthorFailure` is the opponent's of a duel, or the submission's."""
    try:
        yield
    except AuthorFailure as error:
        error.of_opponent = opponent
        raise


def death(ended: RunnerExit, limits: Limits) -> AuthorFailure | SandboxUnavailable:
    """What an end of the runner that we didn't cause means, and whose fault it is.

    Whatever the author's code does to its own process leaves a wait status, or a limit that was
    hit. If there is neither, something outside has ended all of the sandbox: the attempt is
    lost, and nobody is blamed. A SIGKILL may come from either side; it takes two to refuse.
    """
    who = "The submission" if ended.rank is None else f"Rank {ended.rank}"
    if ended.out_of_memory:
        return out_of_memory(limits)
    if ended.signal == signal.SIGXCPU or ended.cpu_time_s >= limits.cpu_time_s:
        return out_of_processor_time(limits)
    if ended.signal is not None:
        failure = AuthorFailure(
            Verdict.RUNTIME_ERROR,
            f"{who} was ended by {_signal_name(ended.signal)}. "
            + _ENDED_BY.get(ended.signal, _ENDED_BY_ANY),
        )
        failure.disputable = ended.signal == signal.SIGKILL
        return failure
    if ended.exit_code is None:
        return SandboxUnavailable("The runner was ended from outside of its sandbox.")
    return AuthorFailure(
        Verdict.RUNTIME_ERROR,
        f"{who} ended its own process with exit code {ended.exit_code}. Return from custom_kernel, "
        "and raise an exception if something is wrong.",
    )


def out_of_time(phase: Phase, limit_s: float) -> AuthorFailure:
    """The failure of a phase that wasn't over within its limit."""
    message = (
        f"The {phase} phase took longer than its time limit of {limit_s:g} s. Do less in each "
        "call; try the slowest case alone."
    )
    return AuthorFailure(Verdict.TIME_LIMIT, message)


def with_limit(
    error: AuthorFailure, phase: Phase, limit_s: float, deadline: float
) -> AuthorFailure:
    """The same failure, but with the phase and its limit named if that is what was exceeded: a
    runner's connection knows only that its `deadline` (as of `time.monotonic`) has passed, or that
    a second attempt has had its own time."""
    if error.verdict is Verdict.TIME_LIMIT and (error.had_s or time.monotonic() >= deadline):
        return _with_waiting(out_of_time(phase, limit_s), error, limit_s)
    return error


def more_time_s(late: AuthorFailure) -> float:
    """How much time beyond its limit a second attempt gets, if others had used up the first one's:
    it ends when it has had the limit for itself."""
    return MORE_S if late.excuse else 0.0


def while_compiling(error: AuthorFailure, limit_s: float, deadline: float) -> AuthorFailure:
    """What `with_limit` says, for a file that is imported."""
    if error.verdict is not Verdict.TIME_LIMIT or time.monotonic() < deadline:
        return error
    message = (
        f"Importing the submission took longer than the compile limit of {limit_s:g} s, over all "
        "phases. Compile less at import, or ask the problem's author for a longer compile limit."
    )
    late = AuthorFailure(Verdict.TIME_LIMIT, message)
    late.of_opponent = error.of_opponent
    return _with_waiting(late, error, limit_s)


def while_only_compiling(error: AuthorFailure, limit_s: float, limits: Limits) -> AuthorFailure:
    """The same failure of a file that is only compiled for now, in words that say so. `limit_s`: of
    the calls that compile."""
    if error.verdict is Verdict.TIME_LIMIT:
        message = (
            f"Compiling was not done after {limit_s:g} s. Unroll less (`tl.static_range`, "
            "recursion with `constexpr`), try smaller blocks and fewer configurations, or ask the "
            "problem's author for a longer compile limit."
        )
    elif error.verdict is Verdict.MEMORY_LIMIT:
        message = (
            f"Compiling needed more than {limits.memory_bytes >> 20} MiB of memory. Unroll less, "
            "use fewer templates and headers, and smaller blocks and static arrays."
        )
    else:
        return error
    said = AuthorFailure(error.verdict, message, error.evidence)
    said.of_opponent = error.of_opponent
    return said


def _with_waiting(late: AuthorFailure, error: AuthorFailure, limit_s: float) -> AuthorFailure:
    """The same, with how long it waited for a processor, if that may be why it was late. If others
    had its processor for most of the limit, it is disputable, and excused if it happens again."""
    what, _, _ = late.message.partition(". ")
    had_s, others_s = error.had_s or limit_s, error.kept_waiting_s
    if others_s > _OTHERS_SHARE * had_s and had_s - others_s < limit_s:
        late.disputable = True
        late.excuse = (
            f"{what}, but other programs had its processor for {others_s:.1f} s of the "
            f"{had_s:.1f} s that it had: the machine was busy, which is nobody's fault. Submit it "
            "again later."
        )
    if error.waited_s >= _WAITING_SHARE * limit_s:
        late.message += (
            f" It waited {error.waited_s:.1f} s of {_had(error)} for a processor: the machine was "
            "busy, or it had more threads than processors."
        )
    return late


def _had(late: AuthorFailure) -> str:
    return f"the {late.had_s:.1f} s that it had the second time" if late.had_s else "that"


def out_of_processor_time(limits: Limits) -> AuthorFailure:
    """The failure of a process that worked for too long, however long it took."""
    message = (
        f"The submission used more than {limits.cpu_time_s:g} s of processor time. Compute less, "
        "and let no thread spin while it waits."
    )
    return AuthorFailure(Verdict.TIME_LIMIT, message)


def out_of_memory(limits: Limits) -> AuthorFailure:
    """The failure of a submission that the kernel ended for its memory."""
    message = (
        f"The submission used more than {limits.memory_bytes >> 20} MiB of memory. Keep fewer and "
        "smaller arrays at once, and none between calls."
    )
    return AuthorFailure(Verdict.MEMORY_LIMIT, message)


def too_much_output(limits: Limits) -> AuthorFailure:
    """The failure of a submission that printed without end."""
    most = limits.output_limit_bytes
    message = f"The submission printed more than {most} bytes. Print less, or nothing."
    return AuthorFailure(Verdict.OUTPUT_LIMIT, message)


def _signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} ({signal.strsignal(number)})"
    except ValueError:
        return f"signal {number}"


def bad_output(message: str) -> AuthorFailure:
    """The failure of a kernel that returned what can't be an answer; the runner can go on."""
    error = AuthorFailure(Verdict.WRONG_ANSWER, message)
    error.fatal = False
    return error


def refuse(reply: RunnerReply, where: str, missing: str = NO_KERNEL) -> None:
    """Raise the `AuthorFailure` that a reply stands for, if it stands for one. Raises
    `SandboxUnavailable` if the runner has lost its GPU by what others did.

    `missing`: what is said if there is no kernel.
    """
    if not isinstance(reply, RequestRefused):
        return
    verdict, message = _refusal(reply, where, missing)
    if (why := excuse(reply.gpu_fault)) is not None:
        raise SandboxUnavailable(f"The runner lost its GPU: {why}.")
    error = AuthorFailure(verdict, message)
    error.fatal = error.is_gpu_fault = reply.gpu_fault != 0
    error.disputable = is_hardware_fault(reply.gpu_fault)
    raise error


def _refusal(reply: RequestRefused, where: str, missing: str) -> tuple[Verdict, str]:
    text = reply.text
    match reply.why:
        case RefusalReason.NOT_COMPILED:
            return Verdict.COMPILE_ERROR, text
        case RefusalReason.RAISED:
            return Verdict.RUNTIME_ERROR, f"{where}:\n{text}"
        case RefusalReason.NO_ROOM:
            room = "there is no room for a call's data. Keep less between calls."
            return Verdict.MEMORY_LIMIT, f"{where}: {room}\n{text}"
        case RefusalReason.MEMORY:
            memory = "it ran out of memory. Keep fewer and smaller arrays at once, or recurse less."
            return Verdict.MEMORY_LIMIT, f"{where}: {memory}\n{text}"
        case RefusalReason.OUT_OF_BOUNDS:
            return Verdict.RULE_VIOLATION, wrote_outside_output(where).message
        case RefusalReason.EXIT:
            left = "it called sys.exit. Return from custom_kernel instead."
            return Verdict.RUNTIME_ERROR, f"{where}: {left}\n{text}"
        case RefusalReason.UNSUPPORTED:
            what = f"custom_kernel returned {text[:500]}. Return what the reference returns."
            return Verdict.WRONG_ANSWER, what
        case RefusalReason.MISSING:
            return Verdict.RUNTIME_ERROR, missing


def output_size(reply: Done | DoneInPlace, limits: Limits, max_bytes: int | None = None) -> int:
    """How many bytes a call has returned, by its answer. Raises `AuthorFailure`.

    `max_bytes`: what no right output exceeds; None if that isn't known.
    """
    size = reply.size
    if not 0 <= size <= limits.memory_bytes:
        raise bad_output(
            f"custom_kernel returned {size} bytes, more than memory allows. " + _AS_LARGE
        )
    if max_bytes is not None and size > max_bytes:
        raise bad_output(
            f"custom_kernel returned {size} bytes, far more than the right output has. " + _AS_LARGE
        )
    return size


def expect_room(reply: ReturnedInArena, size_bytes: int, most_bytes: int) -> None:
    """Raise `AuthorFailure` if one of the sizes that a call in an arena has returned can't be."""
    if size_bytes < 0:
        raise garbage(reply)
    if size_bytes > most_bytes:
        raise bad_output(
            f"custom_kernel returned {size_bytes} bytes, more than there is room for. " + _AS_LARGE
        )


def claimed(reply: RunnerReply, claim_ns: int, start_ns: int) -> Window:
    """When and how long a runner says that its kernel ran. Raises `AuthorFailure`."""
    if not (0 <= claim_ns <= _LONGEST_NS and 0 <= start_ns <= _LATEST_NS):
        raise garbage(reply)
    return Window(claim_ns, bracket_ns=0, start_ns=start_ns)


def hung_up() -> AuthorFailure:
    """The failure of a runner that lives on with its end of the channel closed."""
    return AuthorFailure(
        Verdict.RUNTIME_ERROR,
        f"The submission closed the harness's end of the conversation. {_LEAVE_ALONE}",
    )


def expect_reply(reply: RunnerReply, wanted: type[R], where: str, missing: str = NO_KERNEL) -> R:
    """The reply, if it is of the wanted kind. Raises the `AuthorFailure` that any other stands for;
    see `refuse`."""
    if isinstance(reply, wanted):
        return reply
    refuse(reply, where, missing)
    raise garbage(reply)


def no_value(error: Exception) -> AuthorFailure:
    """The failure of a runner whose output can't be rebuilt."""
    return AuthorFailure(
        Verdict.RULE_VIOLATION,
        f"What the runner sent as output is not a value: {error}. {_LEAVE_ALONE}",
    )


def wrote_outside_output(where: str = "The submission failed") -> AuthorFailure:
    """The failure of a kernel that changed the guard bytes of an output."""
    message = f"{where}: it wrote beside its output. {_WRITE_WITHIN}"
    return AuthorFailure(Verdict.RULE_VIOLATION, message)


def written_late(changed: int) -> AuthorFailure:
    """The failure of an output of which some places changed after its return."""
    return AuthorFailure(
        Verdict.RULE_VIOLATION,
        "The output changed after custom_kernel had returned. Join or wait for all that writes "
        "to it before custom_kernel returns.",
        f"{changed} probes differ from the copy taken after them",
    )


def garbage(said: RunnerReply | str) -> AuthorFailure:
    """The failure of a runner that says what it should not."""
    try:
        shown = str(said)[:_MAX_SHOWN]
    except RecursionError:
        shown = "that is nested too deeply to be shown"
    return AuthorFailure(
        Verdict.RULE_VIOLATION,
        f"The runner's side of the conversation was tampered with. {_LEAVE_ALONE}",
        f"unexpected message {shown}",
    )
