"""What a runner says of a call, made into a value: the one place where a hostile reply is read.

Whatever the runner says becomes a value or an `AuthorFailure`. Nothing of it is used before it was
checked, and an exception that nobody thought of is the author's as well: they wrote the reply.
"""

import contextlib
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kernelbot.harness.data.decode import ReadStretch
from kernelbot.harness.data.encode import Encoded, Json
from kernelbot.harness.data.hold import hold
from kernelbot.harness.data.leaves import leaf_sizes
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.inside.cage.loader import ProblemBroken
from kernelbot.harness.inside.gpu.driver import GpuError
from kernelbot.harness.inside.runner.probes import OUTPUT_BASE
from kernelbot.harness.judge.calls.probes import count_changed
from kernelbot.harness.words.failures import (
    AuthorFailure,
    claimed,
    garbage,
    no_value,
    output_size,
    written_late,
)
from kernelbot.harness.words.runner_messages import Done, DoneInPlace, InputsDescribed, RunnerReply
from kernelbot.harness.words.windows import Window
from kernelbot.protocol import Limits

_HIGHEST_ADDRESS = 1 << 64


@dataclass(frozen=True)
class CallAnswer:
    """A call's answer, as far as it can be checked without its bytes."""

    skeleton: Json
    """Unchecked: for `value_shared` and `value_read` only."""
    size_bytes: int
    window: Window
    """What the runner claims; within bounds, but maybe a lie."""
    addresses: tuple[int, ...]
    """Where the runner says that its arrays lie; empty if it has copied them."""


def read_answer(reply: Done, limits: Limits, max_bytes: int | None = None) -> CallAnswer:
    """Check the answer of a call whose output was copied. Raises `AuthorFailure`. `max_bytes`: see
    `output_size`."""
    with blaming_author():
        size_bytes = output_size(reply, limits, max_bytes)
        window = claimed(reply, reply.claim_ns, reply.start_ns)
        return CallAnswer(reply.value, size_bytes, window, ())


def read_answer_in_place(reply: DoneInPlace, limits: Limits, told: Window) -> CallAnswer:
    """The same of calls whose outputs are where the kernel left them. `told`: by their mark."""
    with blaming_author():
        size_bytes, addresses = output_size(reply, limits), _addresses(reply)
        window = claimed(reply, told.claim_ns, told.start_ns)
        return CallAnswer(reply.value, size_bytes, window, addresses)


def value_shared(
    answer: CallAnswer,
    buffer: SharedBuffer,
    probes: list[int],
    modules: frozenset[str],
    device: str | None,
) -> Encoded:
    """The output that lies in `buffer` behind its probes. Raises `AuthorFailure`."""

    def read(target: int, offset: int, size_bytes: int) -> None:
        ctypes.memmove(target, buffer.address + OUTPUT_BASE + offset, size_bytes)

    with blaming_author():
        room = buffer.size_bytes - OUTPUT_BASE
        value = hold(answer.skeleton, read, room, modules, device)
        changed = count_changed(buffer, answer.skeleton, probes)
    if changed:
        raise written_late(changed)
    return value


def value_read(answer: CallAnswer, read_memory: ReadStretch, modules: frozenset[str]) -> Encoded:
    """The output that `read_memory` copies from the runner's memory: to an address of ours, from
    one of the runner's, so many bytes. Raises `AuthorFailure`, and the OSError of `read_memory`:
    there may be no such memory, or no runner any more.

    No more memory is taken than the answer's size, whatever the arrays say of themselves.
    """
    waiting = iter(answer.addresses)

    def read(target: int, _offset: int, size_bytes: int) -> None:
        read_memory(target, next(waiting), size_bytes)

    with blaming_author():
        value = hold(answer.skeleton, read, answer.size_bytes, modules, "cpu")
        if next(waiting, None) is not None:
            raise ValueError("more addresses than arrays")
    return value


def differ(reply: RunnerReply, data: Encoded, buffer: SharedBuffer | None) -> bool:
    """Whether inputs as a runner describes them, with their bytes in `buffer`, aren't `data`."""
    if (
        not isinstance(reply, InputsDescribed)
        or buffer is None
        or reply.value != _as_json(data.skeleton)
    ):
        return True
    return any(
        buffer.read(leaf.offset, leaf.size_bytes) != ctypes.string_at(leaf.address, leaf.size_bytes)
        for leaf in data.leaves
    )


def _as_json(skeleton: Any) -> Any:
    """A skeleton as the other side reads it: tuples become lists."""
    if isinstance(skeleton, tuple | list):
        return [_as_json(item) for item in skeleton]
    if isinstance(skeleton, dict):
        return {key: _as_json(item) for key, item in skeleton.items()}
    return skeleton


def count_parts(answer: CallAnswer) -> int:
    """How many arrays an answer consists of whose value was read."""
    return sum(1 for _ in leaf_sizes(answer.skeleton))


@contextlib.contextmanager
def blaming_author() -> Iterator[None]:
    """Whatever is raised within becomes an `AuthorFailure`; but for OSError and `GpuError`, which
    no reply raises by what it says, and for want of memory, which is a `ProblemBroken`."""
    try:
        yield
    except (AuthorFailure, GpuError, OSError):
        raise
    except MemoryError as error:  # ours: what the reply may ask for is bounded
        raise ProblemBroken(
            "The judge has too little memory for the problem's outputs: give it more, or make the "
            "problem smaller."
        ) from error
    except Exception as error:
        raise no_value(error) from error


def _addresses(reply: DoneInPlace) -> tuple[int, ...]:
    found = reply.at
    if not isinstance(found, list):
        raise garbage(reply)
    if any(type(address) is not int or not 0 <= address < _HIGHEST_ADDRESS for address in found):
        raise garbage(reply)
    return tuple(found)
