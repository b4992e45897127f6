"""One runner whose calls are timed, and what its calls of one workload have shown.

In a duel there are two. Whichever isn't called is frozen, on a GPU too, so that it can't slow the
other one down.
"""

from kernelbot.harness.judge.authors import Author
from kernelbot.harness.judge.test_phase import Spend, refuse_side_effects
from kernelbot.harness.judge.windows import OutputLayout, Reply, Window
from kernelbot.harness.problem.questions import Question
from kernelbot.harness.runner_client.arena_caller import ArenaCaller
from kernelbot.harness.runner_client.conversations import AnySession, caller_of
from kernelbot.harness.runner_client.freeze import RunnerTree
from kernelbot.harness.timing.answers import Answers
from kernelbot.harness.timing.clocks import CacheFlusher
from kernelbot.harness.timing.warming import Warming
from kernelbot.protocol import JobSpec, Vendor


class TimedRunner:
    """Makes the timed calls of one session, in which the kernel was loaded."""

    def __init__(
        self,
        job: JobSpec,
        session: AnySession,
        flusher: CacheFlusher,
        spend: Spend,
        author: Author,
    ) -> None:
        self.session = session
        self._job = job
        self._flusher = flusher
        self._spend = spend
        self.author = author
        self._caller = caller_of(job, session)
        self._in_duel = job.opponent is not None
        self._stopped_by_us = self._in_duel and job.device.vendor is not Vendor.CPU
        self._tree: RunnerTree | None = None
        """Of the processes that were stopped last: ranks are others once their number changes."""
        self._rested_cpu_ns: int | None = None
        self.idle_cpu_ns = 0
        """Of a duel: processor time that it used between its calls of a workload, while it had to
        be frozen. Without a freezer a hostile one can wake."""
        self.after_calls_ns: list[int] = []
        """Of a duel on a GPU: how long control calls took that came directly after its calls."""

    def begin(self, known: Question) -> None:
        """A workload begins, of which `known` is a question. Stops the runner until its first
        call."""
        if isinstance(self._caller, ArenaCaller):  # no more memory is made ready than it needs
            known.work_out()
            self._caller.bound(known.max_output_bytes())
        self.hold()
        self.idle_cpu_ns = 0
        self.after_calls_ns = []

    def call(self, question: Question, *, reuse: bool) -> Reply:
        """One timed call with cold caches. `reuse`: the data lies where the last call's lay. Raises
        `AuthorFailure`."""
        if self._rested_cpu_ns is not None:
            woken_ns = self.session.tree_cpu_ns() - self._rested_cpu_ns
            self.idle_cpu_ns += max(woken_ns, 0)
        if self._tree is not None:
            self._tree.resume()
        with self.author.at_work():
            reply = self._caller.timed_call(question.given, self._flusher, reuse)
            self._spend("kernel", reply.window.claim_ns / 1e9)
            refuse_side_effects(self._job, self._caller, question, reply.aliased)
        if self._in_duel:
            self.hold()
        return reply

    def hold(self) -> None:
        """Stop it until its next call, so that nothing of it can disturb others."""
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


class Samples:
    """What one runner's calls of a workload have shown so far."""

    def __init__(self, runner: TimedRunner, answers: Answers) -> None:
        self.runner = runner
        self.answers = answers
        self.warming = Warming()
        self.windows: list[Window] = []
        self.layouts: tuple[OutputLayout, ...] = ()
        """What each rank's last output consisted of, if that is known."""
        self.parts = 1
        """How many values the last output consisted of."""
        self.size_bytes = 0
        """How many bytes they had."""
        self.runner_s = 0.0
        """How long the calls took that became samples, with the runner's work beside them."""

    def add_warming(self, reply: Reply) -> None:
        """Add a call that doesn't become a sample."""
        self.layouts = reply.layouts
        self.warming.add(reply.window.claim_ns)

    def add(self, call: int, question: Question, reply: Reply) -> None:
        """Add a sample. Raises `AuthorFailure` if its output is checked at once and wrong."""
        self.answers.add(call, question, reply)
        self.windows.append(reply.window)
        self.layouts, self.parts, self.size_bytes = reply.layouts, reply.parts, reply.size_bytes
        self.runner_s += (reply.window.bracket_ns + reply.window.outside_ns) / 1e9
