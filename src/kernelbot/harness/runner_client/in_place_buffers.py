"""Where one runner's timed calls on a CPU find their data, and where the judge takes their output.

Data is written and output is read while the runner stands still; its user sees to that.
The output is taken when the call's mark is seen, at the addresses beside it and in the sizes that
the last call's had; some of it at once, before the runner is frozen, the rest must agree with. What
the runner tells of it afterwards must agree with what was taken; where it doesn't, the output
counts as of then.
"""

import ctypes
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kernelbot.harness.data.encode import Encoded, Json, leaf_kinds, leaf_sizes
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.judge.failures import written_late
from kernelbot.harness.judge.windows import Reply, Window
from kernelbot.harness.runner_client.freeze import is_within, read_memory, stretches_of_file
from kernelbot.harness.runner_client.replies import blaming_author, read_answer, value_read
from kernelbot.harness.runner_client.session import Session
from kernelbot.harness.timing.clocks import waited_ns
from kernelbot.harness.timing.marks import MAX_ADDRESSES, RECORD_BYTES, Outcome, Record, marks
from kernelbot.harness.timing.probes import Probes, Stretch

_PAGE = 4096
_TIME_BITS = 62
_SPIN_S = 0.005
"""So long the judge looks for a mark without a pause: of longer calls, waking up is little."""
_SLEEP_S = 0.1


@dataclass(frozen=True)
class _Taken:
    """What was read once the runner stood still after its mark."""

    addresses: list[int]
    stretches: list[Stretch]
    buffer: SharedBuffer
    changed: int = 0
    """How many of the probes, read at the mark, differ from it."""

    def agrees_with(self, skeleton: Json, addresses: list[Any], stretches: list[Stretch]) -> bool:
        """Whether this is all of the output so described: then nothing of it is from later."""
        same = self.addresses == addresses and self.stretches == stretches
        return same and _is_of_arrays(skeleton)

    def reader(self) -> Callable[[int, int, int], None]:
        """Copies its arrays, one after another: to an address, from where it lay, so many bytes."""
        places = iter(self.stretches)

        def read(target: int, _address: int, size_bytes: int) -> None:
            ctypes.memmove(target, self.buffer.address + next(places)[0], size_bytes)

        return read


@dataclass(frozen=True)
class Seen:
    """When the last of several marks was seen, and how long each runner's main thread had waited
    for a processor in its life until its own, in ns."""

    at_ns: int
    waited_ns: list[int]


@dataclass(frozen=True)
class Served:
    """An output as the judge has it."""

    reply: Reply
    at_the_mark: bool
    """Whether it is what lay there when the mark was seen."""


class InPlaceBuffers:
    """The memory of one session's timed calls."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pid = session.clocks.main_pid
        self._input: SharedBuffer | None = None
        self._base = 0
        self._page = SharedBuffer.create(RECORD_BYTES)
        self._record = Record.from_address(self._page.address)
        self._record_sent = False
        self._turn = 0
        self._kernel = ""
        self._likely: dict[str, list[Stretch]] = {}
        self._probes: Probes | None = None
        self._taken: _Taken | None = None
        self._aliased_then = False
        self._claim = Window(0, 0)

    def attach(self, data: Encoded, reuse: bool, kernel: str) -> None:
        """Have arrays laid over memory whose contents are old; the runner will say `ready`.

        `reuse`: where the last call's data lay. The runner must be awake.
        """
        buffer, fds = self._slot(data.size_bytes, reuse)
        self._write(buffer, data, early=True)
        self._turn += 1
        self._kernel = kernel
        likely = self._likely.get(kernel)
        self._probes = None if likely is None else Probes.choose(self._pid, likely)
        message = {"op": "attach", "data": data.skeleton, "base": self._base, "kernel": kernel}
        message |= {"turn": self._turn, "input": bool(fds), "record": not self._record_sent}
        if not self._record_sent:
            fds = [*fds, self._page.fd]
            self._record_sent = True
        self._session.send(message, fds)

    def reveal(self, data: Encoded) -> None:
        """Write the arrays of the call that was attached."""
        if self._input is not None:
            self._write(self._input, data, early=False)

    def let_go(self) -> None:
        """Let the call begin as soon as the runner is awake."""
        self._record.mark = 0
        self._set("go")

    def wait_for_mark(self, spin_s: float) -> tuple[int, int]:
        """When the kernel was seen to have returned, and how many ns its thread had waited for a
        processor in its life until then; 0 if it wasn't seen. See `Marks.wait`."""
        times = spin_s, _SLEEP_S
        schedstat = self._session.clocks.schedstat_fd()
        seen_ns, counted = marks().wait(
            self._page.address, self._turn, *times, schedstat, self._probes
        )
        return seen_ns, waited_ns(counted)

    def has_raised(self) -> bool:
        """Whether the kernel is said to have raised instead of returning."""
        return bool(self._record.mark == self._turn and self._record.outcome == Outcome.RAISED)

    def take(self) -> None:
        """Read the output that the mark tells of, and let the runner describe it once awake."""
        record = Record.from_buffer_copy(self._record)
        self._claim = _claimed(record)
        addresses = record.addresses[: min(record.count, MAX_ADDRESSES)]
        self._drop()
        likely, probes = self._likely.get(self._kernel), self._probes
        is_known = (
            record.outcome == Outcome.TAKEN and likely is not None and len(addresses) == len(likely)
        )
        if is_known and likely is not None and probes is not None and probes.were_read:
            self._taken = self._read(addresses, likely, probes)
            self._aliased_then = self._aliased(addresses, likely)
        self._set("describe")

    def serve(self, reply: dict[str, Any]) -> Served:
        """The output that a runner's description tells of. Raises `AuthorFailure`, and OSError if
        its memory can't be read."""
        claim, taken = self._claim, self._taken
        claimed = {**reply, "claim_ns": claim.claim_ns, "start_ns": claim.start_ns}
        try:
            answer = read_answer(claimed, self._session.limits, in_place=True)
            addresses = list(answer.addresses)
            with blaming_author():
                stretches = list(leaf_sizes(answer.skeleton))
                if not (taken and taken.agrees_with(answer.skeleton, addresses, stretches)):
                    taken = None
            if taken is not None and taken.changed:
                raise written_late(taken.changed)
            read = self._read_now if taken is None else taken.reader()
            value = value_read(answer, read, self._session.modules)
        finally:
            self._drop()
        aliased = self._aliased(addresses, stretches) if taken is None else self._aliased_then
        self._likely[self._kernel] = stretches
        reply_of_call = Reply(value, answer.window, answer.size_bytes, aliased, len(addresses))
        return Served(reply_of_call, at_the_mark=taken is not None)

    def inputs_changed(self, data: Encoded) -> bool:
        """Whether the last call left its arrays other than they were."""
        buffer = self._input
        if buffer is None:
            return False
        return any(
            buffer.read(self._base + leaf.offset, leaf.size_bytes)
            != ctypes.string_at(leaf.address, leaf.size_bytes)
            for leaf in data.leaves
        )

    def close(self) -> None:
        """Give the shared memory back."""
        if self._input is not None:
            self._input.close()
        self._drop()
        self._page.close()

    def _set(self, word: str) -> None:
        field: Any = getattr(Record, word)
        marks().set(self._page.address + field.offset, self._turn)

    def _drop(self) -> None:
        if self._taken is not None:
            self._taken.buffer.close()
        self._taken = None

    def _slot(self, size_bytes: int, reuse: bool) -> tuple[SharedBuffer, list[int]]:
        """Where the data will lie: where it lay last, or in the buffer's other half."""
        size = -(-max(size_bytes, 1) // _PAGE) * _PAGE
        if self._input is None or self._input.size_bytes < 2 * size:
            if self._input is not None:
                self._input.close()
            self._input = SharedBuffer.create(2 * size)
            self._base = 0
            return self._input, [self._input.fd]
        if not reuse or self._base not in (0, size):
            self._base = size if self._base == 0 else 0
        return self._input, []

    def _write(self, buffer: SharedBuffer, data: Encoded, early: bool) -> None:
        """Arrays only when all stands still; `early` are the leaves that `attach` must read."""
        for kind, leaf in zip(leaf_kinds(data.skeleton), data.leaves, strict=True):
            if early == (kind not in ("tensor", "array")):
                target = buffer.address + self._base + leaf.offset
                ctypes.memmove(target, leaf.address, leaf.size_bytes)

    def _read(
        self, addresses: list[int], stretches: list[Stretch], probes: Probes
    ) -> _Taken | None:
        """The bytes at these addresses; None if there are none."""
        buffer = SharedBuffer.create(max((start + size for start, size in stretches), default=0))
        try:
            for address, (offset, length) in zip(addresses, stretches, strict=True):
                read_memory(self._pid, address, buffer.address + offset, length)
        except OSError:
            buffer.close()
            return None
        changed = probes.count_changed(buffer.address, stretches)
        return _Taken(addresses, stretches, buffer, changed)

    def _read_now(self, target: int, address: int, size_bytes: int) -> None:
        read_memory(self._pid, address, target, size_bytes)

    def _aliased(self, addresses: list[Any], stretches: list[Stretch]) -> bool:
        """Whether the output lies in the memory of the inputs, as the kernel sees it."""
        if self._input is None:
            return False
        mapped = stretches_of_file(self._pid, os.fstat(self._input.fd).st_ino)
        return any(
            is_within(address, length, mapped)
            for address, (_, length) in zip(addresses, stretches, strict=True)
        )


def wait_for_marks(
    all_buffers: Sequence[InPlaceBuffers], check: Callable[[], None], *, spin: bool
) -> Seen:
    """Return once all have marked that their kernels have returned.

    `check` is called about ten times a second, and may raise. `spin`: whether this thread has a
    processor on which it keeps no runner from its own.
    """
    at_ns, waited = 0, []
    spin_s = _SPIN_S if spin else 0.0
    for buffers in all_buffers:
        while True:
            at_ns, waited_by_it_ns = buffers.wait_for_mark(spin_s)
            if at_ns:
                break
            check()
            spin_s = 0.0
        waited.append(waited_by_it_ns)
    return Seen(at_ns, waited)


def _is_of_arrays(skeleton: Json) -> bool:
    """Whether a value has no other parts than arrays: others only a description has."""
    if not isinstance(skeleton, dict):
        return skeleton is None
    if skeleton.get("t") in ("tuple", "list"):
        return all(isinstance(item, dict) and _is_of_arrays(item) for item in skeleton["v"])
    return skeleton.get("t") in ("tensor", "array")


def _claimed(record: Record) -> Window:
    """When and how long a runner says that its kernel ran; numbers that no clock has become 0."""
    start_ns, end_ns = record.start_ns, record.end_ns
    if not 0 < start_ns <= end_ns < 1 << _TIME_BITS:
        return Window(0, bracket_ns=0)
    return Window(end_ns - start_ns, bracket_ns=0, start_ns=start_ns)
