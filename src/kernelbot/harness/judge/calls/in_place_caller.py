"""Timed calls on a CPU: data appears and output is taken while the runners stand still.

The author's code owns its process, so the harness's half of it can't be trusted with anything
that counts. Here it only builds arrays over shared memory, calls, and says where the output lies:

    attach   the runner lays arrays over a stretch of shared memory whose contents are old
    (halt)   the judge freezes all its processes, writes the call's data there, flushes the caches
    go       the judge looks at its clock, then wakes the runner, which calls the kernel
    mark     the judge looks at its clock, freezes the runner again, and reads the output itself
    done     only now does the runner describe the output; it must be what was taken

So the work can neither begin before the judge's first look nor end after its second, and what the
runner claims to have taken is held against the judge's own bracket, which copies nothing. Between
go and mark no Python of ours runs beside the author's code: see `marks.py`. If the runner can only
be stopped, which it can undo, the judge looks at its clock before it writes the data. That costs
the control runner as much.

Of short kernels several calls, each with data of its own, follow each other between the same marks:
then what begins and ends a call is a small part of it. All of their data is written before, and all
of their outputs are taken after.

With several ranks all of this happens for all at once, and the judge itself is the barrier on both
sides: all are woken together, and no output is read before all have returned and been frozen. The
time lasts from when the first begins until the last returns; the judge's own bracket lasts until
all have answered, and the processor time of all of them counts.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kernelbot.harness.judge.calls.callers import Several, answering
from kernelbot.harness.judge.calls.in_place_buffers import (
    Calls,
    InPlaceBuffers,
    Served,
    wait_for_marks,
)
from kernelbot.harness.judge.calls.rank import RankRunner
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.sandbox.runner_tree import RunnerTree
from kernelbot.harness.timing.clocks import (
    CacheFlusher,
    OwnDelay,
    own_delay_ns,
    own_processors,
    urgent,
)
from kernelbot.harness.words import runner_messages as messages
from kernelbot.harness.words.failures import garbage, no_value
from kernelbot.harness.words.windows import Reply

_SLICE_NS = 4_000_000
"""For so long at most the scheduler lets a thread go on while another waits: 3 ms by its usual
settings for two processors, in steps of a clock that ticks each 4 ms."""


@dataclass(frozen=True)
class _Used:
    """Processor time that runners have used so far, in ns; exact while they stand still."""

    computed_ns: tuple[int, ...]
    """The time of each runner's main thread."""
    waited_ns: tuple[int, ...]
    """How long each main thread was ready to run but had no processor."""
    total_ns: int
    """The time of all threads and processes of all runners."""


@dataclass(frozen=True)
class _Runners:
    """The runners that there are, until others take their place."""

    ranks: tuple[RankRunner, ...]
    buffers: tuple[InPlaceBuffers, ...]
    tree: RunnerTree
    processors: int
    """How many of them the runners may use at once."""
    own_processors: frozenset[int]
    """Those of the judge that no runner may use."""
    tells_waits: bool
    """Whether it is known who kept a main thread waiting: all that compute for its author are
    counted, and others of theirs can't compute meanwhile. Of several ranks it isn't."""


class InPlaceCaller:
    """Makes the timed calls of one runner, or of all ranks."""

    def __init__(self, session: Session, *, compares_inputs: bool = False) -> None:
        """`compares_inputs`: whether anybody will ask for `inputs_changed`."""
        self._session = session
        self._compares_inputs = compares_inputs
        self._current: _Runners | None = None
        self._runners()

    def timed_call(
        self, data: Any, flusher: CacheFlusher | None, reuse: bool, kernel: str = "author"
    ) -> Reply:
        """Implements `Caller`."""
        parts = self._parts(data)
        runners = self._runners()
        tree, own = runners.tree, runners.own_processors
        idle, asked = self._used(runners), time.perf_counter_ns()
        self._attach(runners, parts, reuse, kernel)
        ready, built, delay_ns = time.perf_counter_ns(), self._used(runners), own_delay_ns()
        tree.halt()
        still_ns = time.perf_counter_ns() - ready - (own_delay_ns() - delay_ns)
        rested = self._used(runners)
        if tree.is_certain:
            _reveal(runners, parts)
        _flush(runners, flusher)  # so the data is cold as well, unless it appears later
        with OwnDelay() as delay, urgent(own):
            delay.begin()
            start = time.perf_counter_ns()
            if not tree.is_certain:
                _reveal(runners, parts)
            tree.resume()
            seen = wait_for_marks(runners.buffers, self._check, spin=bool(own))
            delay.end()  # stopping takes as long as an author wants, and is many short waits
            tree.halt()
        stopped, done = time.perf_counter_ns(), self._used(runners)
        _take(runners, parts if self._compares_inputs else None)
        taken = time.perf_counter_ns()
        answers = self._described(runners)
        tree.halt()  # from here on no output can change, and nothing can be prepared
        described, rested_again = time.perf_counter_ns(), self._used(runners)
        gaps = any(one.has_gaps for one in runners.buffers)
        served = [self._serve(runners, rank, answer) for rank, answer in enumerate(answers)]
        at_the_mark = all(one.at_the_mark for one in served)
        is_slow_to_read = gaps or any(one.is_slow_to_read for one in served)
        stopping_ns = time.perf_counter_ns() - described if is_slow_to_read else 0
        if at_the_mark:
            stopping_ns += (taken if is_slow_to_read else stopped) - seen.at_ns
        end, ended = (seen.at_ns, done) if at_the_mark else (described, rested_again)
        excuse = _excused_before_ns if tree.is_certain else _excused_ns
        outside_ns = ready - asked - excuse(idle, built) + max(0, still_ns)
        after_ns = max(described - taken - _excused_ns(done, rested_again), 0) if at_the_mark else 0
        outside_ns += after_ns
        after_cpu_ns = max(_computed_ns(done, rested_again)) if at_the_mark else 0
        by_all_ns = min(after_ns, rested_again.total_ns - done.total_ns)
        reply = self._session.together([one.reply for one in served])
        waited_ns = _excused_ns(rested, replace(done, waited_ns=tuple(seen.waited_ns)))
        window = replace(
            reply.window,
            bracket_ns=end - start,
            build_cpu_ns=max(_computed_ns(idle, built)),
            still_cpu_ns=max(_computed_ns(built, rested)),
            after_cpu_ns=after_cpu_ns,
            call_cpu_ns=max(_computed_ns(rested, ended)),
            call_tree_cpu_ns=ended.total_ns - rested.total_ns,
            processors=runners.processors,
            waiting_ns=min(waited_ns + (delay.waited_ns if own else 0), end - start),
            kept_waiting_ns=min(waited_ns, end - start) if runners.tells_waits else None,
            outside_ns=outside_ns,
            outside_tree_cpu_ns=rested.total_ns
            - idle.total_ns
            + rested_again.total_ns
            - ended.total_ns,
            described=not at_the_mark,
            disowned=any(one.disowned for one in served),
            describing_ns=max(after_cpu_ns, by_all_ns),
            stopping_ns=stopping_ns,
        )
        return replace(reply, window=window)

    def bound(self, _max_bytes: int | None) -> None:
        """Nothing: an output takes as much of the judge's memory as it has bytes."""

    def hold(self) -> None:
        """Freeze the runners until the next call, so that nothing of them can disturb others."""
        if self._current is not None:
            self._current.tree.halt()

    def release(self) -> None:
        """Let the runners go on."""
        if self._current is not None:
            self._current.tree.resume()

    def close(self) -> None:
        """Give the shared memory back."""
        if self._current is not None:
            for buffers in self._current.buffers:
                buffers.close()
            self._current = None

    def inputs_changed(self, _data: Any) -> bool:
        """Whether arrays were other than before when the last call's output was taken."""
        return any(buffers.inputs_changed for buffers in self._runners().buffers)

    @property
    def takes_several(self) -> bool:
        """Whether there is one runner: several would have to wait for each other at each call."""
        return len(self._session.ranks) == 1

    def _parts(self, data: Any) -> list[Calls]:
        """The data of each runner's calls."""
        if isinstance(data, Several):
            return [tuple(part for one in data.of for part in self._session.parts(one))]
        return [(part,) for part in self._session.parts(data)]

    def _runners(self) -> _Runners:
        """The session's runners, with buffers for each."""
        ranks = self._session.ranks
        if self._current is None or self._current.ranks != ranks:
            self.close()
            clocks, tree = ranks[0].clocks, self._session.tree()
            self._current = _Runners(
                ranks,
                tuple(InPlaceBuffers(one) for one in ranks),
                tree,
                clocks.processors(),
                own_processors(clocks.main_pid),
                tells_waits=len(ranks) == 1 and tree.is_certain and clocks.tells_waits,
            )
        return self._current

    def _attach(self, runners: _Runners, parts: Sequence[Calls], reuse: bool, kernel: str) -> None:
        runners.tree.resume()
        for buffers, part in zip(runners.buffers, parts, strict=True):
            buffers.attach(part, reuse, kernel)
        with answering(self._session):
            self._session.gather(messages.IsReady)

    def _described(self, runners: _Runners) -> list[messages.DoneInPlace]:
        """What all runners say of their outputs; they are awake afterwards."""
        runners.tree.resume()
        with answering(self._session):
            return self._session.gather(messages.DoneInPlace)

    def _serve(self, runners: _Runners, rank: int, answer: messages.DoneInPlace) -> Served:
        with self._session.naming(rank):
            try:
                return runners.buffers[rank].serve(answer)
            except OSError as error:  # its memory can't be read: it is dead, or never had that
                runners.tree.resume()  # else it might not be able to die
                raise runners.ranks[rank].cause_of(no_value(error)) from error

    def _check(self) -> None:
        """A rank that raised leaves others waiting for it: then all are to say what became of them.

        Raises `AuthorFailure`.
        """
        self._session.check()
        all_buffers = self._runners().buffers
        if len(all_buffers) > 1 and any(buffers.has_raised() for buffers in all_buffers):
            for buffers in all_buffers:
                buffers.take()
            self._session.gather(messages.DoneInPlace)

    def _used(self, runners: _Runners) -> _Used:
        main_threads = [one.clocks.main_thread() or (0, 0) for one in runners.ranks]
        computed_ns, waited_ns = zip(*main_threads, strict=True)
        return _Used(computed_ns, waited_ns, self._session.tree_cpu_ns())


def _take(runners: _Runners, unchanged: Sequence[Calls] | None) -> None:
    """Read all outputs of which marks tell, and compare the inputs with what they are to be, while
    the runners stand still."""
    for rank, buffers in enumerate(runners.buffers):
        buffers.take(None if unchanged is None else unchanged[rank])


def _flush(runners: _Runners, flusher: CacheFlusher | None) -> None:
    if flusher is not None:
        for cpu in {one.clocks.last_cpu() for one in runners.ranks}:
            flusher.flush(cpu)


def _reveal(runners: _Runners, parts: Sequence[Calls]) -> None:
    """Write the data, and let the calls begin once the runners are awake."""
    for buffers, part in zip(runners.buffers, parts, strict=True):
        buffers.reveal(part)
    if any(one.has_message() for one in runners.ranks):
        raise garbage("an answer before the question")
    for buffers in runners.buffers:
        buffers.let_go()


def _computed_ns(start: _Used, end: _Used) -> list[int]:
    pairs = zip(start.computed_ns, end.computed_ns, strict=True)
    return [after - before for before, after in pairs]


def _excused_ns(start: _Used, end: _Used) -> int:
    """How long a main thread waited for a processor. Waiting for its own helpers, or for another
    rank, is no excuse: they do the author's work."""
    total_ns = end.total_ns - start.total_ns
    waited_ns = zip(start.waited_ns, end.waited_ns, _computed_ns(start, end), strict=True)
    excused = [after - before - (total_ns - computed) for before, after, computed in waited_ns]
    return max(0, *excused)


def _excused_before_ns(start: _Used, end: _Used) -> int:
    """The same before a call whose data nobody has seen: helpers that spin while idle are honest,
    and keep a main thread waiting for a slice. For no longer: it may have made itself unimportant,
    so that they can prepare the call."""
    waits_ns = zip(start.waited_ns, end.waited_ns, strict=True)
    waited_ns = max(0, *(after - before for before, after in waits_ns))
    return min(waited_ns, _excused_ns(start, end) + _SLICE_NS)
