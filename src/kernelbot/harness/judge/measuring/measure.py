"""The timed phases: new data for every call, cold caches, and two clocks that must agree.

One kernel is measured, or in a duel two: then each gets the same data, in random order. Each runs
in several processes, which take turns (`processes.py`).
"""

import math
import random
import statistics
import time
from collections.abc import Sequence
from typing import Any

from kernelbot.harness.inside.cage.questions import Question
from kernelbot.harness.judge.measuring.anchor import EVERY, Anchor
from kernelbot.harness.judge.measuring.assessment import Assessment, SampledCase
from kernelbot.harness.judge.measuring.control_runner import Control
from kernelbot.harness.judge.measuring.measurement import Measurement
from kernelbot.harness.judge.measuring.refusals import too_few
from kernelbot.harness.judge.measuring.rounds import Line, NumberedCase, Rounds
from kernelbot.harness.judge.measuring.timed_runner import Samples, TimedRunner
from kernelbot.harness.judge.measuring.warming_up import WarmingUp
from kernelbot.harness.judge.problem.examiner import CagedQuestion, Examiner
from kernelbot.harness.judge.test_phase import Spend
from kernelbot.harness.timing.answers import MAX_KEPT_BYTES, SampleOutputs, are_alike
from kernelbot.harness.timing.processes import FEWEST_OF_EACH
from kernelbot.harness.timing.stopping_rule import StoppedBy, StoppingRule
from kernelbot.harness.timing.waits import Waits
from kernelbot.harness.words.plan import Plan
from kernelbot.protocol import Case, Mode
from kernelbot.protocol.ratios import ratio_of
from kernelbot.protocol.scoring import FEWEST_FOR_AN_INTERVAL
from kernelbot.protocol.waits import MOST_TRIES

_CONTROL_EVERY = 4
"""Number of rounds per call of the control runner, which comes before them. In a round each of the
runners is called once."""
_CONTROL_FIRST = 20
"""For this many rounds at the beginning, a control call comes before each."""
_CALIBRATION_SHARE = 0.1
"""The part of a workload's time after which calibration makes no more calls than it must."""


class Measurer:
    """Measures workloads on the runners of one kernel, or of two, in turn."""

    def __init__(
        self,
        plan: Plan,
        examiner: Examiner,
        lines: Sequence[Sequence[TimedRunner]],
        control: Control,
        spend: Spend,
    ) -> None:
        """`lines`: one for each process of a kernel, with one runner, or in a duel a pair: the
        submission's and the opponent's."""
        self._job = plan.job
        self._lines = lines
        self._runners = [runner for line in lines for runner in line]
        self._is_duel = plan.is_duel
        self._on_gpu = plan.on_gpu
        self._control = control
        self._spend = spend
        self._random = random.SystemRandom()
        self._rounds = Rounds(plan, examiner, control, spend)
        self._assessment = Assessment(plan, control, spend)
        self._warming_up = WarmingUp(
            plan, self._rounds, control, self._assessment, processes=len(lines)
        )
        self._rules = self._assessment.rules
        self._under_way: SampledCase | None = None

    @property
    def at_work(self) -> TimedRunner | None:
        """The last one that was called."""
        return self._rounds.at_work

    def measure(
        self, index: int, case: Case, workloads_left: int, *, repeats: bool = True
    ) -> Measurement:
        """Sample one workload until the stopping rule is satisfied. `repeats`: calls that waited
        for a processor. Raises `AuthorFailure`."""
        asked = NumberedCase(index, case)
        known = self._rounds.question(asked, 0)
        repeatable = are_alike(known, self._rounds.question(asked, 0))
        for runner in self._runners:
            runner.begin(known)
        budget_s = _CALIBRATION_SHARE * self._left_s(workloads_left)
        empty_call_ns = self._control.calibrate(index, known.given, budget_s)
        anchor = self._anchor(known)
        taken: list[Line] = [
            [self._no_samples(asked, runner, repeatable) for runner in line] for line in self._lines
        ]
        waits = Waits(told=repeats)
        self._under_way = work = SampledCase(
            index, case, known, taken, empty_call_ns, anchor, waits
        )
        self._rounds.look_for_recurrence(asked, known)
        budget_s = min(self._patience_s, self._left_s(workloads_left))
        call, check_s = self._warming_up.warm_up(work, budget_s)
        self._follow(index, known, work.samples)
        # Only from here on: preparing takes seconds with gigabytes of data, and gives no sample.
        start, left_s = time.monotonic(), self._left_s(workloads_left)
        longest_s = min(self._patience_s, left_s)
        rule = StoppingRule(
            self._rules,
            longest_s,
            left_s,
            processes=len(work.taken),
            is_ranked=self._job.mode is Mode.LEADERBOARD and not self._is_duel,
        )
        stopped, anchor_s = self._sample_all(work, rule, call, check_s)
        if rule.too_few:
            took_s = time.monotonic() - start - anchor_s
            raise too_few(case, len(rule.values), took_s, work.samples)
        for one in work.samples:
            one.runner.hold()
        self._assessment.refuse_disturbances(work.taken)
        sampling_s = time.monotonic() - start - anchor_s
        for side in work.sides:
            self._assessment.check_side(work, side, sampling_s)
        times = self._assessment.times(work)
        if repeats and not waits.told:
            waits.unexplained = self._assessment.count_unexplained(work)
        for runner in self._runners:
            runner.release()
        self._under_way = None
        processes, calls = len(work.taken), work.samples[0].calls
        recurs = self._rounds.data_recurred
        return Measurement(
            case, times, stopped, empty_call_ns, anchor, processes, calls, recurs, work.waits
        )

    @property
    def _patience_s(self) -> float:
        return max(self._rules.wall_cap_s, self._rules.patience_s)

    def _sample_all(
        self, work: SampledCase, rule: StoppingRule, call: int, check_s: float
    ) -> tuple[StoppedBy, float]:
        """Take turns until there are enough; `call` is the number of the next call, `check_s` how
        long it takes to check an output after sampling. Returns why there were enough, and how many
        seconds the anchor took."""
        rules, anchor = self._rules, work.anchor
        fewest = math.ceil(rules.min_samples / len(work.taken)) * work.samples[0].calls
        start = time.monotonic()
        rounds, anchor_s = 0, 0.0
        stopped: StoppedBy | None = None
        while stopped is None:
            turn = work.taken[: rules.max_samples - rounds]
            for line in self._random.sample(turn, len(turn)):
                if rounds < _CONTROL_FIRST or rounds % _CONTROL_EVERY == 0:
                    self._control.observe(work.index, work.known.given)
                if anchor is not None and rounds % EVERY == 0:
                    anchor_s += self._observe(anchor)
                call += self._rounds.play_shorter(work, call, line)
                call += self._sample(work, call, line, rule, start + anchor_s)
                rounds += 1
                self._follow(work.index, work.known, line)
            for line in turn:
                self._add_round(rule, work.index, line)
            # The checks at the end count already, or the time limit would be exceeded.
            sampled_s = time.monotonic() - start - anchor_s
            of_each_s = sampled_s / len(work.taken)
            owed_s = sum(one.answers.owed_s(check_s, fewest, of_each_s) for one in work.samples)
            elapsed = sampled_s + owed_s
            stopped = rule.decide(elapsed, elapsed - sum(one.runner_s for one in work.samples))
        return stopped, anchor_s

    def interrupted(self) -> dict[int, Measurement]:
        """What was measured of the workload that an `AuthorFailure` has ended, by its index: if
        there are samples enough, whatever their outputs were."""
        left = self._under_way
        if left is None:
            return {}
        processes = len(left.taken)
        turns = min(len(one.places) for one in left.samples)
        if turns * processes < max(FEWEST_FOR_AN_INTERVAL, FEWEST_OF_EACH * processes):
            return {}
        found = Measurement(
            left.case,
            self._assessment.times(left, turns, may_suspect=False),
            StoppedBy.DISPUTE,
            left.empty_call_ns,
            left.anchor,
            processes,
            left.samples[0].calls,
            waits=left.waits,
        )
        return {left.index: found}

    def _no_samples(self, asked: NumberedCase, runner: TimedRunner, repeatable: bool) -> Samples:
        def check(question: CagedQuestion, value: Any) -> None:
            self._rounds.check(asked.case, runner, question, value)

        answers = SampleOutputs(
            lambda calls, values: self._rounds.check_again(asked, runner, calls, values),
            check,
            repeatable=repeatable,
            share=self._rules.check_share,
            max_bytes=MAX_KEPT_BYTES // len(self._runners),
        )
        return Samples(runner, answers)

    def _follow(self, index: int, known: Question, line: Line) -> None:
        """In a duel the control runner answers as cheaply as the cheaper of both."""
        for one in line:
            self._control.follow(index, known.given, one.layouts)

    def _add_round(self, rule: StoppingRule, index: int, line: Line) -> None:
        """Add the last sample of each: the time of one, or the ratio of two."""
        latest = [
            self._assessment.baseline(index, [one]).bounded_ns(one.windows[one.places[-1]])
            / one.calls
            for one in line
        ]
        rule.add(sum(latest), ratio_of(*latest) if self._is_duel else None)

    def _left_s(self, workloads_left: int) -> float:
        """The workload's part of the phase's time."""
        deadline = min(runner.session.deadline for runner in self._runners)
        return (deadline - time.monotonic()) * 0.9 / workloads_left

    def _anchor(self, known: Question) -> Anchor | None:
        """The problem's anchor, warm; None if it has none. A duel needs none: both kernels of a
        pair meet the same drift."""
        if self._job.problem.anchor is None or self._is_duel:
            return None
        anchor = Anchor(self._control, known)
        self._give_back_anchor(anchor.spent_s)
        return anchor

    def _observe(self, anchor: Anchor) -> float:
        """Call the anchor once; returns the seconds it took."""
        before = anchor.spent_s
        anchor.observe()
        spent_s = anchor.spent_s - before
        self._give_back_anchor(spent_s)
        return spent_s

    def _give_back_anchor(self, anchor_s: float) -> None:
        self.give_back(anchor_s)
        self._spend("anchor", anchor_s)

    def give_back(self, seconds: float) -> None:
        """Add to the deadline what isn't the author's time."""
        for runner in self._runners:
            runner.session.deadline += seconds
            self._control.extend(runner.session.deadline)

    def hold(self) -> None:
        """Stop all runners until their next calls."""
        for runner in self._runners:
            runner.hold()

    def close(self) -> None:
        """Release what the calls needed."""
        for runner in self._runners:
            runner.close()

    def _sample(
        self, work: SampledCase, call: int, line: Line, rule: StoppingRule, began: float
    ) -> int:
        """One more sample of each, repeated if one had to wait while there is time for that;
        returns how many calls that was. `began`: when sampling did, without what isn't its own."""
        calls, made = line[0].calls, 0
        usual_ns = statistics.median(rule.samples_ns) * calls if rule.samples_ns else 0.0
        for tries in range(MOST_TRIES):
            if tries and not rule.has_time_to_repeat(time.monotonic() - began):
                break
            questions, replies = self._rounds.play(work, call + made, line, calls)
            for one, reply in zip(line, replies, strict=True):
                one.add(call + made, questions, reply, again=tries > 0)
            made += calls
            windows = [reply.window for reply in replies]
            del questions, replies, reply  # their memory is for the next call's
            if not work.waits.add(windows, usual_ns, again=tries > 0):
                for one in line:
                    one.take_last()
                break
        return made
