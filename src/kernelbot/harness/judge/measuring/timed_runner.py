"""One runner whose calls are timed, and what its calls of one workload have shown.

A kernel has several, and in a duel there are two kernels. Whichever isn't called is frozen, on a
GPU too, so that it can't slow down the one that is.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from kernelbot.harness.inside.cage.questions import Question
from kernelbot.harness.judge.authors import Contestant
from kernelbot.harness.judge.calls.callers import Several
from kernelbot.harness.judge.calls.conversations import caller_of
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.judge.test_phase import Spend, refuse_side_effects
from kernelbot.harness.sandbox.freezer import NotFrozen
from kernelbot.harness.sandbox.runner_tree import RunnerTree
from kernelbot.harness.timing.answers import SampleOutputs
from kernelbot.harness.timing.clocks import CacheFlusher
from kernelbot.harness.timing.plausibility import CallBaseline
from kernelbot.harness.timing.warming import Warming
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.windows import OutputLayout, Reply, Window


class TimedRunner:
    """Makes the timed calls of one session, in which the kernel was loaded."""

    def __init__(
        self,
        plan: Plan,
        session: Session,
        flusher: CacheFlusher,
        spend: Spend,
        author: Contestant,
    ) -> None:
        self.session = session
        self._plan = plan
        self._flusher = flusher
        self._spend = spend
        self.author = author
        self._caller = caller_of(plan, session)
        self._in_duel = plan.is_duel
        self._stopped_by_us = plan.is_duel and plan.on_gpu
        self._tree: RunnerTree | None = None
        """The processes that were stopped last: ranks are others once their number changes."""
        self._rested_cpu_ns: int | None = None
        self.idle_cpu_ns = 0
        """The processor time that it used between its calls of a workload, while it had to be
        frozen: for duels. Without a freezer a hostile one can wake."""
        self.after_calls_ns: list[int] = []
        """How long control calls took that came directly after its calls: for duels on a GPU."""

    def begin(self, known: Question) -> None:
        """A workload begins, of which `known` is a question. Stops the runner until its first
        call."""
        if self.session.has_arenas:  # no more memory is made ready than it needs
            known.work_out()
        self._caller.bound(known.max_output_bytes())
        self.hold()
        self.idle_cpu_ns = 0
        self.after_calls_ns = []

    @property
    def takes_several(self) -> bool:
        """Whether several calls can follow each other in one window."""
        return self._caller.takes_several

    def call(self, questions: Sequence[Question], *, reuse: bool) -> Reply:
        """One timed window, with cold caches at its beginning: a call for each question. `reuse`:
        the data lies where the last window's lay. Raises `AuthorFailure`."""
        all_given = tuple(question.given for question in questions)
        given = all_given[0] if len(all_given) == 1 else Several(all_given)
        if self._rested_cpu_ns is not None:
            woken_ns = self.session.tree_cpu_ns() - self._rested_cpu_ns
            self.idle_cpu_ns += max(woken_ns, 0)
        if self._tree is not None:
            self._tree.resume()
        with self.author.at_work(), self._named_if_not_frozen():
            reply = self._caller.timed_call(given, self._flusher, reuse)
            self._spend("kernel", reply.window.claim_ns / 1e9)
            refuse_side_effects(self._plan, self._caller, given, reply)
        if self._in_duel:
            self.hold()
        return reply

    def hold(self) -> None:
        """Stop it until its next call, so that nothing of it can disturb others."""
        with self._named_if_not_frozen():
            self._caller.hold()
            if self._stopped_by_us:
                self._tree = self.session.tree()
                self._tree.halt()
        if self._in_duel:
            self._rested_cpu_ns = self.session.tree_cpu_ns()

    def release(self) -> None:
        """Let it go on: no further call follows at once."""
        self._rested_cpu_ns = None
        if self._tree is not None:
            self._tree.resume()
        self._caller.release()

    def close(self) -> None:
        """Release what the calls needed."""
        self._caller.close()

    @contextmanager
    def _named_if_not_frozen(self) -> Iterator[None]:
        """Within, a `NotFrozen` says whose runner it is about."""
        try:
            yield
        except NotFrozen as error:
            error.of_opponent = self.author.is_opponent
            raise


class Samples:
    """What one runner's calls of a workload have shown so far."""

    def __init__(self, runner: TimedRunner, answers: SampleOutputs) -> None:
        self.runner = runner
        self.answers = answers
        self.warming = Warming()
        self.calls = 1
        """How many calls each window holds."""
        self.latest = Reply(None, Window(0, 0), 0, aliased=False)
        """The last window that didn't become a sample, without its value."""
        self.unsampled: list[Window] = []
        """All of those that hold so many calls."""
        self.windows: list[Window] = []
        """All, also those that waited and were repeated."""
        self.places: list[int] = []
        """The places of those among them that are samples."""
        self.firsts: list[int] = []
        """The place of the first one for each sample."""
        self.layouts: tuple[OutputLayout, ...] = ()
        """What each rank's last output consisted of, if that is known."""
        self.parts = 1
        """How many values the last output consisted of."""
        self.size_bytes = 0
        """How many bytes they had."""
        self.runner_s = 0.0
        """How long all windows took, with the runner's work beside them, and with how long it took
        to stop it, and to read what only its author makes slow to read."""
        self.waited_s = 0.0
        """How long of that the kernel waited for a processor that others had, as far as is known.
        """

    def add_warming(self, reply: Reply) -> None:
        """Add a call that doesn't become a sample."""
        self.layouts = reply.layouts
        self.latest = replace(reply, value=None)
        self.unsampled.append(reply.window)
        self.warming.add(reply.window.claim_ns)

    def hold_in_windows(self, calls: int) -> None:
        """Let each window from here on hold so many calls."""
        self.calls = calls
        self.unsampled.clear()

    def quick_ns(self, baseline: CallBaseline) -> float:
        """How long a quick window of so many calls took, of those that didn't become samples: the
        lower quartile. So neither those that were interrupted count nor a few that did less than
        others, whose outputs nobody may have looked at. There must be one."""
        taken_ns = sorted(map(baseline.bounded_ns, self.unsampled))
        return taken_ns[len(taken_ns) // 4]

    def times_ns(self, baseline: CallBaseline) -> list[float]:
        """How long a call took, for each window."""
        return [baseline.bounded_ns(one) / self.calls for one in self.windows]

    def add(
        self, call: int, questions: Sequence[Question], reply: Reply, *, again: bool = False
    ) -> None:
        """Add the window of the calls from number `call` on, which becomes a sample. `again`: it
        repeats the last one, and becomes none unless it is taken. Raises `AuthorFailure` if an
        output is checked at once and wrong."""
        if not again:
            self.places.append(len(self.windows))
            self.firsts.append(len(self.windows))
        values = (reply.value,) if self.calls == 1 else reply.value
        size_bytes = reply.size_bytes // self.calls
        for index, (question, value) in enumerate(zip(questions, values, strict=True)):
            one = replace(reply, value=value, size_bytes=size_bytes)
            self.answers.add(call + index, question, one)
        self.windows.append(reply.window)
        self.layouts, self.parts, self.size_bytes = reply.layouts, reply.parts, reply.size_bytes
        window = reply.window
        self.runner_s += (window.bracket_ns + window.outside_ns + window.stopping_ns) / 1e9
        self.waited_s += (reply.window.kept_waiting_ns or 0) / 1e9

    def take_last(self) -> None:
        """Make the last window the sample for which it was repeated."""
        self.places[-1] = len(self.windows) - 1
