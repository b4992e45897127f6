"""Where one runner's timed calls on a CPU find their data, and where the judge takes their output.

Data is written and output is read while the runner stands still; its user sees to that.
The output is taken when the call's mark is seen, at the addresses beside it and in the sizes that
the last call's had; some of it at once, before the runner is frozen, the rest must agree with. What
the runner tells of it afterwards must agree with what was taken; where it doesn't, the output
counts as of then.
"""

import ctypes
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kernelbot.harness.data.decode import ReadStretch
from kernelbot.harness.data.elements import expect_quick_to_read
from kernelbot.harness.data.encode import Encoded, Json
from kernelbot.harness.data.hold import items_of
from kernelbot.harness.data.leaves import has_gaps, leaf_elements, leaf_kinds, leaf_sizes
from kernelbot.harness.data.private_memory import PrivateBuffer
from kernelbot.harness.data.process_memory import read_memory
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.inside.marks.marks import marks
from kernelbot.harness.inside.marks.probes import Probes, Stretch
from kernelbot.harness.inside.marks.record import (
    MAX_ADDRESSES,
    RECORD_BYTES,
    MarkOutcome,
    MarkRecord,
)
from kernelbot.harness.judge.calls.gathering import gather
from kernelbot.harness.judge.calls.output_form import OutputForm, form_of
from kernelbot.harness.judge.calls.rank import RankRunner
from kernelbot.harness.judge.calls.replies import blaming_author, read_answer_in_place, value_read
from kernelbot.harness.sandbox.runner_tree import is_within, stretches_of_file
from kernelbot.harness.timing.clocks import waited_ns
from kernelbot.harness.words.failures import garbage, written_late
from kernelbot.harness.words.runner_messages import Attach, DoneInPlace
from kernelbot.harness.words.windows import Reply, Window

_PAGE = 4096
_TIME_BITS = 62
_SPIN_S = 0.005
"""So long the judge looks for a mark without a pause: of longer calls, waking up is little."""
_SLEEP_S = 0.1


Calls = tuple[Encoded, ...]
"""The data of calls that follow each other between the same two marks: usually of one."""


@dataclass(frozen=True)
class _TakenOutput:
    """What was read once the runner stood still after its mark."""

    addresses: list[int]
    form: OutputForm
    """The form that the call before had."""
    buffer: PrivateBuffer
    changed: int = 0
    """How many of the probes, read at the mark, differ from it."""

    def agrees_with(self, form: OutputForm | None, addresses: list[Any]) -> bool:
        """Whether this is all of the output so described: then nothing of it is from later."""
        if form is None or not form.has_frame_of(self.form):
            return False
        mine = [self.addresses[place] for place in form.arrays]
        return mine == addresses and form.floats_are(self.buffer.read)

    def reader(self) -> ReadStretch:
        """Copies its arrays, one after another: to an address, from where it lay, so many bytes."""
        places = iter(self.form.arrays)

        def read(target: int, _address: int, size_bytes: int) -> None:
            offset = self.form.stretches[next(places)].offset
            ctypes.memmove(target, self.buffer.address + offset, size_bytes)

        return read


@dataclass(frozen=True)
class MarksSeen:
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
    disowned: bool
    """Whether what lay there was taken, and then described as another output."""

    @property
    def is_slow_to_read(self) -> bool:
        """Whether reading it takes long because of its form, and not of its bytes."""
        return self.reply.gaps or self.reply.parts > MAX_ADDRESSES


class InPlaceBuffers:
    """The memory of one runner's timed calls."""

    def __init__(self, rank: RankRunner) -> None:
        self._rank = rank
        self._random = random.SystemRandom()
        self._pid = rank.clocks.main_pid
        self._input: SharedBuffer | None = None
        self._base = 0
        self._bases: list[int] = []
        self._page = SharedBuffer.create(RECORD_BYTES)
        self._record = MarkRecord.from_address(self._page.address)
        self._record_sent = False
        self._turn = 0
        self._kernel = ""
        self._calls = 1
        self._likely: dict[tuple[str, int], OutputForm | None] = {}
        self._probes: Probes | None = None
        self._taken: _TakenOutput | None = None
        self._aliased_then = False
        self._inputs_changed = False
        self._claim = Window(0, 0)

    def attach(self, data: Calls, reuse: bool, kernel: str) -> None:
        """Have arrays laid over memory whose contents are old; the runner will say `ready`.

        `reuse`: where the last call's data lay. The runner must be awake. Of several calls, no
        place tells where the next one's data lies.
        """
        sizes = [_in_pages(one.size_bytes) for one in data]
        buffer, fds = self._slot(sum(sizes), reuse)
        self._bases = [0] * len(data)
        base = self._base
        for place in self._random.sample(range(len(data)), len(data)):
            self._bases[place], base = base, base + sizes[place]
        self._write(buffer, data, early=True)
        self._turn += 1
        self._kernel, self._calls = kernel, len(data)
        likely = self._likely.get((kernel, len(data)))
        self._probes = None if likely is None else Probes.choose(self._pid, likely.stretches)
        skeletons, is_new = [one.skeleton for one in data], (bool(fds), not self._record_sent)
        if not self._record_sent:
            fds = [*fds, self._page.fd]
            self._record_sent = True
        self._rank.send(Attach(skeletons, self._bases, kernel, self._turn, *is_new), fds)

    def reveal(self, data: Calls) -> None:
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
        schedstat = self._rank.clocks.schedstat_fd()
        seen_ns, counted = marks().wait(
            self._page.address, self._turn, *times, schedstat, self._probes
        )
        return seen_ns, waited_ns(counted)

    def has_raised(self) -> bool:
        """Whether the kernel is said to have raised instead of returning."""
        return bool(self._record.mark == self._turn and self._record.outcome == MarkOutcome.RAISED)

    def take(self, unchanged: Calls | None = None) -> None:
        """Read the output that the mark tells of, and let the runner describe it once awake.

        `unchanged`: what the inputs are compared with, now that nobody can put them back.
        """
        self._inputs_changed = unchanged is not None and self._differs_from(unchanged)
        record = MarkRecord.from_buffer_copy(self._record)
        self._claim = _claimed(record)
        addresses = record.addresses[: min(record.count, MAX_ADDRESSES)]
        self._drop()
        likely, probes = self._likely.get((self._kernel, self._calls)), self._probes
        if (
            record.outcome == MarkOutcome.TAKEN
            and likely is not None
            and len(addresses) == len(likely.stretches)
            and probes is not None
            and probes.were_read
        ):
            self._taken = self._read(addresses, likely, probes)
            self._aliased_then = self._aliased(addresses, likely.stretches)
            if self._aliased(addresses, _with_gaps(likely.stretches)):
                self._drop()  # copying what an input contains may be the work: it counts
        self._set("describe")

    def serve(self, reply: DoneInPlace) -> Served:
        """The output that a runner's description tells of. Raises `AuthorFailure`, and OSError if
        its memory can't be read."""
        taken = self._taken
        was_taken = taken is not None
        try:
            answer = read_answer_in_place(reply, self._rank.limits, self._claim)
            addresses = list(answer.addresses)
            with blaming_author():
                stretches = _stretches_of(answer.skeleton)
                expect_quick_to_read(filter(None, (one.elements for one in stretches)))
                gaps = has_gaps(answer.skeleton) or any(_with_gaps(stretches))
                form = form_of(answer.skeleton)
                if not (taken and taken.agrees_with(form, addresses)):
                    taken = None
            if taken is not None and taken.changed:
                raise written_late(taken.changed)
            read = self._reader_of_now(stretches) if taken is None else taken.reader()
            value = value_read(answer, read, self._rank.modules)
        finally:
            self._drop()
        aliased = self._aliased(addresses, stretches) if taken is None else self._aliased_then
        if taken is None and self._aliased(addresses, _with_gaps(stretches)):
            raise garbage("a view of an input's memory that wasn't copied")
        self._likely[(self._kernel, self._calls)] = form
        reply_of_call = Reply(
            self._value(value),
            answer.window,
            answer.size_bytes,
            aliased,
            len(addresses),
            shared=_overlap(addresses, stretches),
            gaps=gaps,
        )
        is_known = taken is not None
        return Served(reply_of_call, at_the_mark=is_known, disowned=was_taken and not is_known)

    def _value(self, outputs: Encoded) -> Any:
        """The output of one call; of several a tuple of theirs. Raises `AuthorFailure`."""
        node = outputs.skeleton
        if type(node) is not dict or node["t"] != "list" or len(node["v"]) != self._calls:
            raise garbage("an output of another number of calls")
        found = tuple(items_of(outputs))
        return found[0] if self._calls == 1 else found

    @property
    def has_gaps(self) -> bool:
        """Whether the output that was taken has gaps, or is reversed."""
        return self._taken is not None and any(_with_gaps(self._taken.form.stretches))

    @property
    def inputs_changed(self) -> bool:
        """Whether arrays were other than before when the last output was taken, if that was to be
        compared."""
        return self._inputs_changed

    def close(self) -> None:
        """Give the shared memory back."""
        if self._input is not None:
            self._input.close()
        self._drop()
        self._page.close()

    def _differs_from(self, data: Calls) -> bool:
        """Whether an array of the last call isn't what was written."""
        buffer = self._input
        return buffer is not None and not all(
            buffer.holds(base + leaf.offset, leaf.address, leaf.size_bytes)
            for one, base in zip(data, self._bases, strict=True)
            for leaf in one.leaves
        )

    def _set(self, word: str) -> None:
        field: Any = getattr(MarkRecord, word)
        marks().set(self._page.address + field.offset, self._turn)

    def _drop(self) -> None:
        self._taken = None

    def _slot(self, size_bytes: int, reuse: bool) -> tuple[SharedBuffer, list[int]]:
        """Where the data will lie: where it lay last, or in the buffer's other half."""
        if self._input is None or self._input.size_bytes < 2 * size_bytes:
            if self._input is not None:
                self._input.close()
            self._input = SharedBuffer.create(2 * size_bytes)
            self._base = 0
            return self._input, [self._input.fd]
        if not reuse or self._base not in (0, size_bytes):
            self._base = size_bytes if self._base == 0 else 0
        return self._input, []

    def _write(self, buffer: SharedBuffer, data: Calls, early: bool) -> None:
        """Arrays only when all stands still; `early` are the leaves that `attach` must read."""
        for one, base in zip(data, self._bases, strict=True):
            for kind, leaf in zip(leaf_kinds(one.skeleton), one.leaves, strict=True):
                if early == (kind not in ("tensor", "array")):
                    target = buffer.address + base + leaf.offset
                    ctypes.memmove(target, leaf.address, leaf.size_bytes)

    def _read(self, addresses: list[int], form: OutputForm, probes: Probes) -> _TakenOutput | None:
        """The bytes at these addresses; None if there are none."""
        stretches = form.stretches
        end = max((stretch.offset + stretch.size for stretch in stretches), default=0)
        buffer = PrivateBuffer(end)
        try:
            for address, stretch in zip(addresses, stretches, strict=True):
                self._read_now(buffer.address + stretch.offset, address, stretch)
        except OSError:
            return None
        changed = probes.count_changed(buffer.address, stretches)
        return _TakenOutput(addresses, form, buffer, changed)

    def _read_now(self, target: int, address: int, stretch: Stretch) -> None:
        if stretch.elements is None:
            read_memory(self._pid, address, target, stretch.size)
        else:
            gather(self._pid, address, stretch.elements, target)

    def _reader_of_now(self, stretches: Sequence[Stretch]) -> ReadStretch:
        """Copies one array after another, as they are now."""
        waiting = iter(stretches)

        def read(target: int, address: int, _size_bytes: int) -> None:
            self._read_now(target, address, next(waiting))

        return read

    def _aliased(self, addresses: list[Any], stretches: Sequence[Stretch | None]) -> bool:
        """Whether one lies in the memory of the inputs, as the kernel sees it."""
        if self._input is None or not any(stretches):
            return False
        mapped = stretches_of_file(self._pid, os.fstat(self._input.fd).st_ino)
        return any(
            stretch is not None and is_within(*stretch.bounds(address), mapped)
            for address, stretch in zip(addresses, stretches, strict=True)
        )


def wait_for_marks(
    all_buffers: Sequence[InPlaceBuffers], check: Callable[[], None], *, spin: bool
) -> MarksSeen:
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
    return MarksSeen(at_ns, waited)


def _stretches_of(skeleton: Json) -> list[Stretch]:
    """The stretches of a described output's arrays."""
    told = zip(leaf_sizes(skeleton), leaf_elements(skeleton), strict=True)
    return [Stretch(offset, size, elements) for (offset, size), elements in told]


def _with_gaps(stretches: Sequence[Stretch]) -> list[Stretch | None]:
    """Those of them that have gaps or are reversed, each in its place."""
    return [
        stretch if stretch.elements is not None and not stretch.elements.are_dense else None
        for stretch in stretches
    ]


def _overlap(addresses: list[int], stretches: Sequence[Stretch]) -> bool:
    """Whether two arrays with bytes share some, or lie within each other's gaps."""
    bounds = zip(addresses, stretches, strict=True)
    places = sorted(stretch.bounds(address) for address, stretch in bounds if stretch.size)
    return any(start + size > after for (start, size), (after, _) in pairwise(places))


def _in_pages(size_bytes: int) -> int:
    return -(-max(size_bytes, 1) // _PAGE) * _PAGE


def _claimed(record: MarkRecord) -> Window:
    """When and how long a runner says that its kernel ran; numbers that no clock has become 0."""
    start_ns, end_ns = record.start_ns, record.end_ns
    if not 0 < start_ns <= end_ns < 1 << _TIME_BITS:
        return Window(0, bracket_ns=0)
    return Window(end_ns - start_ns, bracket_ns=0, start_ns=start_ns)
