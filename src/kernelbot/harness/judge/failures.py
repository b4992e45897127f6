"""What a submission can be blamed for, and how a runner's end is read."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernelbot.harness.gpu.sharing import excuse
from kernelbot.harness.judge.windows import Window
from kernelbot.harness.sandbox import RunnerExit, SandboxUnavailable
from kernelbot.protocol import Limits, Phase, Verdict

MAX_TEXT = 16 << 10
"""Of characters of a message or its evidence: checkers quote outputs, and an output may be long."""
_LONGEST_NS = 10**15
"""Of a call that anybody waits for; far below what a float or the kernel's clocks can hold."""
_LATEST_NS = 1 << 62
_MAX_SHOWN = 300
NO_KERNEL = "The submission defines no function custom_kernel(data)."


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
            Verdict.RUNTIME_ERROR, f"{who} was ended by {_signal_name(ended.signal)}."
        )
        failure.disputable = ended.signal == signal.SIGKILL
        return failure
    if ended.exit_code is None:
        return SandboxUnavailable("The runner was ended from outside of its sandbox.")
    return AuthorFailure(
        Verdict.RUNTIME_ERROR,
        f"{who} ended its own process with exit code {ended.exit_code}.",
    )


def out_of_time(phase: Phase, limit_s: float) -> AuthorFailure:
    """The failure of a phase that wasn't over within its limit."""
    message = f"The {phase} phase took longer than its time limit of {limit_s:g} s."
    return AuthorFailure(Verdict.TIME_LIMIT, message)


def with_limit(
    error: AuthorFailure, phase: Phase, limit_s: float, deadline: float
) -> AuthorFailure:
    """The same failure, but with the phase and its limit named if that is what was exceeded: a
    runner's connection knows only that its `deadline` (as of `time.monotonic`) has passed."""
    if error.verdict is Verdict.TIME_LIMIT and time.monotonic() >= deadline:
        return out_of_time(phase, limit_s)
    return error


def out_of_processor_time(limits: Limits) -> AuthorFailure:
    """The failure of a process that worked for too long, however long it took."""
    message = f"The submission used more than {limits.cpu_time_s:g} s of processor time."
    return AuthorFailure(Verdict.TIME_LIMIT, message)


def out_of_memory(limits: Limits) -> AuthorFailure:
    """The failure of a submission that the kernel ended for its memory."""
    message = f"The submission used more than {limits.memory_bytes >> 20} MiB of memory."
    return AuthorFailure(Verdict.MEMORY_LIMIT, message)


def too_much_output(limits: Limits) -> AuthorFailure:
    """The failure of a submission that printed without end."""
    message = f"The submission printed more than {limits.output_limit_bytes} bytes."
    return AuthorFailure(Verdict.OUTPUT_LIMIT, message)


def _signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} ({signal.strsignal(number)})"
    except ValueError:
        return f"signal {number}"


def returned(message: str) -> AuthorFailure:
    """The failure of a kernel that returned what can't be an answer; the runner can go on."""
    error = AuthorFailure(Verdict.WRONG_ANSWER, message)
    error.fatal = False
    return error


def refuse(reply: dict[str, Any], where: str) -> None:
    """Raise the `AuthorFailure` that a reply stands for, if it stands for one. Raises
    `SandboxUnavailable` if the runner has lost its GPU by what others did."""
    text = reply.get("text", "")
    if not isinstance(text, str):
        raise garbage(reply)
    failure = {
        "not_compiled": (Verdict.COMPILE_ERROR, text),
        "raised": (Verdict.RUNTIME_ERROR, f"{where}:\n{text}"),
        "no_room": (
            Verdict.MEMORY_LIMIT,
            f"{where}: beside what it holds, there is too little memory for a call's data.\n{text}",
        ),
        "memory": (Verdict.MEMORY_LIMIT, f"{where}: it ran out of memory.\n{text}"),
        "out_of_bounds": (Verdict.RULE_VIOLATION, f"{where}: it wrote beside its output."),
        "exit": (Verdict.RUNTIME_ERROR, f"{where}: it called sys.exit.\n{text}"),
        "unsupported": (
            Verdict.WRONG_ANSWER,
            f"custom_kernel returned {_what(reply)[:500]}.",
        ),
    }.get(reply["op"])
    if failure is None:
        return
    error = AuthorFailure(*failure)
    if (why := excuse(reply.get("gpu_fault"))) is not None:
        raise SandboxUnavailable(f"The runner lost its GPU: {why}.")
    error.fatal = reply.get("gpu_fault", 0) != 0
    raise error


def _what(reply: dict[str, Any]) -> str:
    what = reply.get("what")
    return what if isinstance(what, str) else "what it could not name"


def output_size(reply: dict[str, Any], limits: Limits, max_bytes: int | None = None) -> int:
    """How many bytes a call has returned, by its answer. Raises `AuthorFailure`.

    `max_bytes`: what no right output exceeds; None if that isn't known.
    """
    refuse(reply, "The submission failed")
    size = reply.get("size")
    if reply["op"] != "done" or type(size) is not int:
        raise garbage(reply)
    if not 0 <= size <= limits.memory_bytes:
        raise returned(f"custom_kernel returned {size} bytes, more than memory allows.")
    if max_bytes is not None and size > max_bytes:
        raise returned(f"custom_kernel returned {size} bytes, far more than the right output has.")
    return size


def returned_size(reply: dict[str, Any], name: str, most: int) -> int:
    """One of the sizes in bytes that a call in an arena has returned. Raises `AuthorFailure`."""
    size = reply.get(name)
    if type(size) is not int or size < 0:
        raise garbage(reply)
    if size > most:
        raise returned(f"custom_kernel returned {size} bytes, more than there is room for.")
    return size


def claimed(reply: dict[str, Any]) -> Window:
    """When and how long a runner says that its kernel ran. Raises `AuthorFailure`."""
    claim, start = reply.get("claim_ns"), reply.get("start_ns")
    if type(claim) is not int or type(start) is not int:
        raise garbage(reply)
    if not (0 <= claim <= _LONGEST_NS and 0 <= start <= _LATEST_NS):
        raise garbage(reply)
    return Window(claim, bracket_ns=0, start_ns=start)


def hung_up() -> AuthorFailure:
    """The failure of a runner that lives on with its end of the channel closed."""
    return AuthorFailure(
        Verdict.RUNTIME_ERROR, "The submission closed the harness's end of the conversation."
    )


def expect_reply(reply: dict[str, Any], wanted: str, where: str) -> None:
    """Raise the `AuthorFailure` that any reply but the wanted one stands for."""
    if reply["op"] == wanted:
        return
    refuse(reply, where)
    if reply["op"] == "missing":
        raise AuthorFailure(Verdict.RUNTIME_ERROR, NO_KERNEL)
    raise garbage(reply)


def no_value(error: Exception) -> AuthorFailure:
    """The failure of a runner whose output can't be rebuilt."""
    return AuthorFailure(
        Verdict.RULE_VIOLATION, f"What the runner sent as output is not a value: {error}."
    )


def wrote_beside() -> AuthorFailure:
    """The failure of a kernel that changed the guard bytes of an output."""
    message = "The submission failed: it wrote beside its output."
    return AuthorFailure(Verdict.RULE_VIOLATION, message)


def written_late(changed: int) -> AuthorFailure:
    """The failure of an output of which some places changed after its return."""
    return AuthorFailure(
        Verdict.RULE_VIOLATION,
        "The output changed after custom_kernel had returned.",
        f"{changed} probes differ from the copy taken after them",
    )


def garbage(reply: dict[str, Any]) -> AuthorFailure:
    """The failure of a runner that says what it should not."""
    try:
        shown = str(reply)[:_MAX_SHOWN]
    except RecursionError:
        shown = "that is nested too deeply to be shown"
    return AuthorFailure(
        Verdict.RULE_VIOLATION,
        "The runner's side of the conversation was tampered with.",
        f"unexpected message {shown}",
    )
