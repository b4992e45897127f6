"""The calls of a workload that don't become samples: they warm its processes up, and show how many
calls a window holds and how many processes there may be."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.inside.cage.questions import Question
from kernelbot.harness.judge.measuring.assessment import Assessment, SampledCase
from kernelbot.harness.judge.measuring.control_runner import Control
from kernelbot.harness.judge.measuring.judge_cost import (
    QUICK_S,
    JudgeCost,
    cost_of_checks,
    least_cost,
)
from kernelbot.harness.judge.measuring.rounds import Line, Rounds
from kernelbot.harness.judge.measuring.short_calls import CallLimits, fill_windows
from kernelbot.harness.judge.measuring.timed_runner import Samples
from kernelbot.harness.judge.problem.examiner import CagedQuestion
from kernelbot.harness.timing.processes import (
    FEWEST_WARM,
    FEWEST_WARM_CALLS,
    Cost,
    affordable,
)
from kernelbot.harness.timing.warming import LONGEST_S
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.windows import Reply


@dataclass(frozen=True)
class _Took:
    """How long it took to make one window's data, and how long `FEWEST_WARM` windows took."""

    data_s: float
    windows_s: float


class WarmingUp:
    """Warms up the processes of one workload after another."""

    def __init__(
        self, plan: Plan, rounds: Rounds, control: Control, assessment: Assessment, processes: int
    ) -> None:
        """`processes`: how many of each kernel there are."""
        self._on_gpu = plan.on_gpu
        self._memory_bytes = plan.job.limits.memory_bytes
        self._rounds = rounds
        self._control = control
        self._assessment = assessment
        self._rules = assessment.rules
        self._of_each_s = self._rules.warmup_s / processes

    def warm_up(self, work: SampledCase, budget_s: float) -> tuple[int, float]:
        """Warm up as many processes as `budget_s` allows, and leave only these in `work.taken`;
        returns the number of the next call, and how long it takes to make a call's data again and
        check its output, in seconds. Raises `AuthorFailure`."""
        first = work.taken[0]
        call, check, single = self._warm_up_first(work, first)
        made, several = self._fill_windows(work, call, check.computed_s)
        call += made
        most, calls = len(work.taken), first[0].calls
        took = several if calls > 1 else single
        if most > 1:
            shared_s = _windows(calls) * took.data_s
            cost = Cost(took.windows_s, _memory_bytes(work.known, first), shared_s)
            most = affordable(most, cost, budget_s, self._memory_bytes)
        del work.taken[most:]
        others = work.taken[1:]
        call = self._warm_up_others(work, others, call, calls)
        if any(one.latest.shared for one in work.samples):
            for one in work.samples:
                one.calls = 1
            if calls > 1:  # where the output of a single call is, hasn't been seen yet
                call = self._warm_up_others(work, others, call, 1)
        return call, took.data_s / calls + check.took_s

    def _warm_up_first(self, work: SampledCase, line: Line) -> tuple[int, JudgeCost, _Took]:
        """Single calls of the first process; returns the number of the next call, what a check
        costs at least, of the job's first calls, and how long such calls take.

        There are at least two: the first one shows where the output is.
        """
        start = time.monotonic()
        until, latest = start + self._of_each_s * len(line), start + LONGEST_S
        call, data_s, round_s = 0, 0.0, 0.0
        check: JudgeCost | None = None
        while (
            call < FEWEST_WARM
            or (now := time.monotonic()) < until
            or (self._on_gpu and not all(one.warming.is_over for one in line) and now < latest)
        ):
            made = time.monotonic()
            questions = self._rounds.make(work, call, 1)
            began = time.monotonic()
            replies = self._rounds.play_with(questions, line)
            data_s, round_s = began - made, time.monotonic() - began
            if call < FEWEST_WARM and (check is None or check.took_s < QUICK_S):
                cost = cost_of_checks(self._rounds, work.case, line, questions[0], replies)
                check = cost.or_less(check)
            for one, reply in zip(line, replies, strict=True):
                one.add_warming(reply)
            call += 1
            del questions, replies, reply  # their memory is for the next call's
        took = _Took(data_s, FEWEST_WARM * round_s)
        return call, check or JudgeCost(0.0, 0.0), took

    def _warm_up_others(
        self, work: SampledCase, lines: Sequence[Line], call: int, calls: int
    ) -> int:
        """Windows of so many calls of further processes, all of which get the same data: none of
        them can tell another, and nobody looks at their outputs. Returns the number of the next
        call."""
        for line in lines:
            for one in line:
                one.hold_in_windows(calls)
        windows = _windows(calls)
        until = time.monotonic() + self._of_each_s * sum(map(len, lines))
        made = 0
        while lines and (made < windows or time.monotonic() < until):
            questions = self._rounds.make(work, call, calls)
            for line in lines:
                for one, reply in zip(line, self._rounds.play_with(questions, line), strict=True):
                    one.add_warming(reply)
                    del reply
            made += 1
            call += calls
            del questions  # their memory is for the next call's
        return call

    def _fill_windows(self, work: SampledCase, call: int, check_s: float) -> tuple[int, _Took]:
        """Decide how many calls each window holds, by such windows of the first processes that
        don't become samples; returns how many calls of each runner these held, and how long the
        last ones took. `check_s`: the processor time of a check.

        The first window of each size shows where the outputs are. Outputs that share memory, of a
        kernel that has one place for all of them, have to be taken one by one.
        """
        line, made, took = work.taken[0], 0, _Took(0.0, 0.0)
        if not all(one.runner.takes_several for one in line) or not self._rules.warmup_s:
            return 0, took

        def try_window(calls: int) -> None:
            nonlocal made, took
            took = self._try_windows(work, call + made, calls, line)
            made += FEWEST_WARM * calls

        making = least_cost(lambda: self._rounds.question(work, 0), self._rounds.computed_ns)
        rules, given = self._rules, work.known.given
        size_bytes = given.size_bytes if isinstance(given, Encoded) else 0
        others_s, window_s = making.computed_s + check_s, rules.wall_cap_s / rules.min_samples
        limits = CallLimits(size_bytes, others_s, window_s)
        calls = fill_windows(line, lambda: self._window_ns(work.index, line), limits, try_window)
        if calls > 1:
            self._control.prepare_windows(work.index, given, calls)
        return made, took

    def _try_windows(self, work: SampledCase, call: int, calls: int, line: Line) -> _Took:
        """Windows of so many calls that don't become samples, but decide something: all of their
        outputs are checked. Returns how long they took, without checks."""
        data_s, took_s = 0.0, 0.0
        for one in line:
            one.hold_in_windows(calls)
        for place in range(FEWEST_WARM):
            made = time.monotonic()
            questions = self._rounds.make(work, call + place * calls, calls)
            began = time.monotonic()
            replies = self._rounds.play_with(questions, line)
            data_s, took_s = began - made, took_s + time.monotonic() - began
            for one, reply in zip(line, replies, strict=True):
                if not reply.shared:  # else they all are the last one's
                    self._check_all(work, one, questions, reply)
                one.add_warming(reply)
            del questions, replies, reply  # their memory is for the next call's
        return _Took(data_s, took_s)

    def _check_all(
        self, work: SampledCase, one: Samples, questions: Sequence[CagedQuestion], reply: Reply
    ) -> None:
        for asked, value in zip(questions, reply.value, strict=True):
            self._rounds.check(work.case, one.runner, asked, value)

    def _window_ns(self, index: int, line: Line) -> float:
        """The time of a quick window that didn't become a sample; in a duel of the slower one's."""
        return max(one.quick_ns(self._assessment.baseline(index, [one])) for one in line)


def _windows(calls: int) -> int:
    """How many windows of so many calls warm a further process up, at least."""
    return max(FEWEST_WARM, math.ceil(FEWEST_WARM_CALLS / calls) if calls > 1 else 0)


def _memory_bytes(known: Question, line: Line) -> int:
    """What one of a kernel's processes has used at most, or what its data and as large an output
    take, if that is more: they lie in the judge's memory, for each process."""
    ranks = [rank for one in line for rank in one.runner.session.ranks]
    data_bytes: int = known.given.size_bytes
    return max(2 * data_bytes, *(rank.peak_bytes() for rank in ranks))
