"""A round: one window of each runner of a line, all with the same data, which is new."""

import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kernelbot.harness.inside.cage.questions import Question
from kernelbot.harness.judge.measuring.control_runner import IDENTITY, Control
from kernelbot.harness.judge.measuring.timed_runner import Samples, TimedRunner
from kernelbot.harness.judge.problem.examiner import CagedQuestion, Examiner
from kernelbot.harness.judge.test_phase import Spend, wrong_answer
from kernelbot.harness.timing.recurrence import Recurrence
from kernelbot.harness.words.cage_messages import CallArguments
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.seeds import call_seed, case_arguments, with_seed
from kernelbot.harness.words.windows import Reply
from kernelbot.protocol import Case

_REFERENCE_SHARE = 0.1
"""The reference's answer is computed for each check while that takes less than this share."""

_SHORTER_SHARE = 0.25
"""So many windows of several calls come after a shorter one: of the fewest samples, 20, one in 300
measurements has none, and a submission has several."""

Line = Sequence[Samples]
"""What the processes that are called with the same data have shown: one, or in a duel a pair, the
submission's first."""


@dataclass(frozen=True)
class NumberedCase:
    """A case, and its number in the problem."""

    index: int
    case: Case


class Rounds:
    """Makes the rounds of a job's timed phase, and checks outputs."""

    def __init__(self, plan: Plan, examiner: Examiner, control: Control, spend: Spend) -> None:
        self._plan = plan
        self._examiner = examiner
        self._control = control
        self._spend = spend
        self._secret = os.urandom(32)
        self._random = random.SystemRandom()
        self._began = time.monotonic()
        self._reference_s = 0.0
        self._recurrence: Recurrence | None = None
        self.at_work: TimedRunner | None = None
        """The last one that was called."""

    def question(self, work: NumberedCase, call: int) -> CagedQuestion:
        """The data of a call, by its number."""
        made_of = self._arguments(work, call)
        return self._examiner.ask(made_of.arguments, made_of.seed)

    def _questions(self, work: NumberedCase, calls: range) -> list[CagedQuestion]:
        """The data of a window's calls."""
        if len(calls) == 1 or not self._examiner.asks_all_at_once:
            return [self.question(work, call) for call in calls]
        return self._examiner.ask_all([self._arguments(work, call) for call in calls])

    def _arguments(self, work: NumberedCase, call: int) -> CallArguments:
        seed = call_seed(self._secret, work.index, call)
        arguments = case_arguments(work.case, self._plan.secret_seed)
        if call:
            arguments = with_seed(arguments, seed)
        return CallArguments(arguments, seed)

    def computed_ns(self) -> int:
        """Processor time so far of all that makes data and checks outputs."""
        return self._examiner.computed_ns()

    def look_for_recurrence(self, work: NumberedCase, known: Question) -> None:
        """From now on, in the data of the workload's calls; `known` is the first one's."""
        self._recurrence = Recurrence(known, lambda call: self.question(work, call))

    @property
    def data_recurred(self) -> bool:
        """Whether two calls had the same data, as far as that was looked for."""
        return self._recurrence is not None and self._recurrence.found

    def play(
        self, work: NumberedCase, call: int, line: Line, calls: int = 1
    ) -> tuple[list[CagedQuestion], list[Reply]]:
        """One window of so many calls, from number `call` on, of each runner, in random order; the
        replies in that of the line. Raises `AuthorFailure`."""
        questions = self.make(work, call, calls)
        return questions, self.play_with(questions, line)

    def make(self, work: NumberedCase, call: int, calls: int) -> list[CagedQuestion]:
        """New data for a window of so many calls, from number `call` on."""
        start = time.monotonic()
        questions = self._questions(work, range(call, call + calls))
        if self._recurrence is not None:
            for index, question in enumerate(questions):
                self._recurrence.look(call + index, question)
        self._spend("generate", time.monotonic() - start)
        return questions

    def play_with(self, questions: Sequence[CagedQuestion], line: Line) -> list[Reply]:
        """One window of each runner with these data, in random order; the replies in that of the
        line. Raises `AuthorFailure`."""
        reuse = bool(self._random.getrandbits(1))
        replies = {}
        for side in self._random.sample(range(len(line)), len(line)):
            runner = self.at_work = line[side].runner
            replies[side] = runner.call(questions, reuse=reuse)
            if len(line) > 1 and self._plan.on_gpu:  # what it left there would slow this down
                after = self._control.call(questions[0].given, IDENTITY)
                runner.after_calls_ns.append(after.window.bracket_ns)
        return [replies[side] for side in sorted(replies)]

    def play_shorter(self, work: NumberedCase, call: int, line: Line) -> int:
        """Now and then a window with fewer calls than the line's, each of whose outputs is checked;
        it becomes no sample. Returns how many calls it held. Raises `AuthorFailure`.

        So none of a window's calls can leave its work to the last one, which does it for all of
        them at once: nobody knows which one that is.
        """
        of_each = line[0].calls
        if of_each == 1 or self._random.random() >= _SHORTER_SHARE:
            return 0
        calls = self._random.randrange(1, of_each)
        questions, replies = self.play(work, call, line, calls)
        for one, reply in zip(line, replies, strict=True):
            values = (reply.value,) if calls == 1 else reply.value
            for question, value in zip(questions, values, strict=True):
                self.check(work.case, one.runner, question, value)
        return calls

    def check(self, case: Case, runner: TimedRunner, question: CagedQuestion, value: Any) -> float:
        """Raises `AuthorFailure` if an output is wrong; returns how long that took, in seconds."""
        start = time.monotonic()
        with runner.author.blamed():
            if self._may_work_out():
                wrong = question.complaint_once_worked_out(value)
                self._reference_s += question.worked_out_s
            else:
                wrong = question.complaint(value)
            self._refuse(wrong, case, start)
        return time.monotonic() - start

    def check_again(
        self, work: NumberedCase, runner: TimedRunner, calls: Sequence[int], values: Sequence[Any]
    ) -> None:
        """Check outputs of calls whose data are made again. Raises `AuthorFailure`."""
        if not self._examiner.asks_all_at_once:
            for call, value in zip(calls, values, strict=True):
                self.check(work.case, runner, self.question(work, call), value)
            return
        start = time.monotonic()
        made_of = [self._arguments(work, call) for call in calls]
        with runner.author.blamed():
            wrong, reference_s = self._examiner.complaint_of_any(
                made_of, values, works_out=self._may_work_out()
            )
            self._reference_s += reference_s
            self._refuse(wrong, work.case, start)

    def _refuse(self, wrong: str, case: Case, start: float) -> None:
        self._spend("check", time.monotonic() - start)
        if wrong:
            raise wrong_answer(f"Wrong in a timed call of {case.spec}: {wrong}")

    def _may_work_out(self) -> bool:
        """Whether to compute the reference's answer, so that timed calls can't pass a tolerant
        checker with another kind of value than tests. Once that takes too long, only for outputs of
        a kind that hasn't been right before (`inside/cage/kinds.py`)."""
        return self._reference_s <= _REFERENCE_SHARE * (time.monotonic() - self._began)
