"""The timed phases: new data for every call, cold caches, and two clocks that must agree.

One runner is measured, or in a duel two: then each gets the same data, in random order.
"""

import os
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kernelbot.harness.judge.duel import ratio_of, rules_of
from kernelbot.harness.judge.failures import AuthorFailure
from kernelbot.harness.judge.test_phase import Spend, wrong_answer
from kernelbot.harness.judge.windows import Reply, Window
from kernelbot.harness.problem.loader import ProblemBroken
from kernelbot.harness.problem.questions import Examiner, Question
from kernelbot.harness.problem.seeds import call_seed, case_arguments, with_seed
from kernelbot.harness.timing.anchor import EVERY, Anchor
from kernelbot.harness.timing.answers import MAX_KEPT_BYTES, Answers, are_alike
from kernelbot.harness.timing.control_runner import IDENTITY, Control
from kernelbot.harness.timing.plausibility import Contradiction, below_floor, disturbance
from kernelbot.harness.timing.stopping_rule import (
    FEWEST_FOR_AN_INTERVAL,
    StoppedBy,
    StoppingRule,
)
from kernelbot.harness.timing.timed_runner import Samples, TimedRunner
from kernelbot.harness.timing.warming import LONGEST_S
from kernelbot.protocol import Case, JobSpec, Vendor, Verdict, WorkloadResult
from kernelbot.protocol.scoring import median_time, steady_samples

_CONTROL_EVERY = 4
"""Number of rounds per call of the control runner, which comes before them. In a round each of the
runners is called once."""
_CONTROL_FIRST = 20
"""For this many rounds at the beginning, a control call comes before each."""
_FEWEST_WARM = 2
_CALIBRATION_SHARE = 0.1
"""Of a workload's time, after which calibration makes no more calls than it must."""
_REFERENCE_SHARE = 0.1
"""The reference's answer is computed for each check while that takes less than this share."""


@dataclass(frozen=True)
class Times:
    """One runner's samples of a workload, in ns, and how many of their outputs were checked."""

    samples_ns: tuple[float, ...]
    checked: int
    suspicion: str | None = None
    """Why to doubt the samples, if that isn't enough to refuse them; for organisers."""


@dataclass(frozen=True)
class Measurement:
    """One workload's measurement: of one runner, or in a duel of two, the submission's first."""

    case: Case
    times: tuple[Times, ...]
    stopped: StoppedBy
    empty_call_ns: float
    anchor: Anchor | None

    @property
    def median_ns(self) -> float:
        """The submission's median, without drift if there is an anchor."""
        samples = self.times[0].samples_ns
        return median_time(samples, _factors(self.anchor, samples)).median_ns

    @property
    def suspicions(self) -> tuple[str, ...]:
        """Reasons to doubt the samples that aren't enough to refuse them; for organisers."""
        return tuple(times.suspicion for times in self.times if times.suspicion is not None)


class Measurer:
    """Measures workloads on one runner, or on two in turn."""

    def __init__(
        self,
        job: JobSpec,
        examiner: Examiner,
        runners: Sequence[TimedRunner],
        control: Control,
        spend: Spend,
    ) -> None:
        """`runners`: in a duel the submission's and the opponent's, else one."""
        self._job = job
        self._examiner = examiner
        self._runners = runners
        self._is_duel = len(runners) > 1
        self._rules = rules_of(job.sampling) if self._is_duel else job.sampling
        self._on_gpu = job.device.vendor is not Vendor.CPU
        self._control = control
        self._spend = spend
        self._secret = os.urandom(32)
        self._random = random.SystemRandom()
        self._began = time.monotonic()
        self._reference_s = 0.0

    def measure(self, index: int, case: Case, workloads_left: int) -> Measurement:
        """Sample one workload until the stopping rule is satisfied. Raises `AuthorFailure`."""
        rules = self._rules
        known = self._question(case, index, 0)
        repeatable = are_alike(known, self._question(case, index, 0))
        for runner in self._runners:
            runner.begin(known)
        budget_s = _CALIBRATION_SHARE * self._left_s(workloads_left)
        empty_call_ns = self._control.calibrate(index, known.given, budget_s)
        anchor = self._anchor(known)
        taken = [self._no_samples(runner, index, case, repeatable) for runner in self._runners]
        call, check_s = self._warm_up(index, case, taken)
        self._follow(index, known, taken)
        # Only from here on: preparing takes seconds with gigabytes of data, and gives no sample.
        start, left_s = time.monotonic(), self._left_s(workloads_left)
        rule = StoppingRule(rules, min(max(rules.wall_cap_s, rules.patience_s), left_s), left_s)
        rounds = 0
        stopped: StoppedBy | None = None
        while stopped is None:
            if rounds < _CONTROL_FIRST or rounds % _CONTROL_EVERY == 0:
                self._control.observe(index, known.given)
            if anchor is not None and rounds % EVERY == 0:
                start += self._observe(anchor)
            self._sample(index, case, call, taken)
            call, rounds = call + 1, rounds + 1
            self._follow(index, known, taken)
            self._add_round(rule, index, taken)
            # The checks at the end count already, or the time limit would be exceeded.
            owed_s = sum(one.answers.owed_s(check_s, rules.min_samples) for one in taken)
            elapsed = time.monotonic() - start + owed_s
            stopped = rule.decide(elapsed, elapsed - sum(one.runner_s for one in taken))
        if rule.too_few:
            raise _too_few(case, rounds, time.monotonic() - start, taken)
        for one in taken:
            one.runner.hold()
        self._refuse_disturbances(taken)
        sampling_s = time.monotonic() - start
        times = tuple(self._times(index, case, one, sampling_s) for one in taken)
        for one in taken:
            one.runner.release()
        return Measurement(case, times, stopped, empty_call_ns, anchor)

    def _no_samples(self, runner: TimedRunner, index: int, case: Case, repeatable: bool) -> Samples:
        answers = Answers(
            lambda call: self._question(case, index, call),
            lambda question, value: self._check(case, runner, question, value),
            repeatable=repeatable,
            share=self._rules.check_share,
            max_bytes=MAX_KEPT_BYTES // len(self._runners),
        )
        return Samples(runner, answers)

    def _follow(self, index: int, known: Question, taken: Sequence[Samples]) -> None:
        """In a duel the control runner answers as cheaply as the cheaper of both."""
        for one in taken:
            self._control.follow(index, known.given, one.layouts)

    def _add_round(self, rule: StoppingRule, index: int, taken: Sequence[Samples]) -> None:
        """Add the last call of each: the time of one, or the ratio of two."""
        latest = [
            self._control.baseline(index, one.parts, one.size_bytes).bounded_ns(one.windows[-1])
            for one in taken
        ]
        rule.add(sum(latest), ratio_of(*latest) if self._is_duel else None)

    def _times(self, index: int, case: Case, one: Samples, sampling_s: float) -> Times:
        """The samples of a runner, once sampling is over. Raises `AuthorFailure`."""
        baseline = self._control.baseline(index, one.parts, one.size_bytes)
        with one.runner.author.blamed():
            _refuse_disputably(baseline.contradiction(one.windows))
            samples_ns = [baseline.bounded_ns(window) for window in one.windows]
            one.answers.check(samples_ns, self._rules.min_samples, sampling_s)
            self._spend("added to claims", _added_s(samples_ns, one.windows))
            self._refuse_below_floor(index, statistics.median(samples_ns), baseline.launch_ns)
        doubt = baseline.suspicion(one.windows)
        whose = "The opponent, " if one.runner.author.is_opponent else ""
        suspicion = None if doubt is None else f"{whose}{case.spec}: {doubt}"
        return Times(tuple(samples_ns), one.answers.checked, suspicion)

    def _refuse_disturbances(self, taken: Sequence[Samples]) -> None:
        """Of a duel: neither may work while the other one is timed. Raises `AuthorFailure`."""
        for one, other in zip(taken, reversed(taken), strict=True):
            if one is not other:
                mine, theirs = one.runner, other.runner
                idle_cpu_ns = mine.idle_cpu_ns / len(one.windows)
                with mine.author.blamed():
                    _refuse_disputably(
                        disturbance(idle_cpu_ns, mine.after_calls_ns, theirs.after_calls_ns)
                    )

    def _left_s(self, workloads_left: int) -> float:
        """This workload's part of the phase's time."""
        deadline = min(runner.session.deadline for runner in self._runners)
        return (deadline - time.monotonic()) * 0.9 / workloads_left

    def _anchor(self, known: Question) -> Anchor | None:
        """The problem's anchor, warm; None if it has none. A duel needs none: both kernels of a
        pair meet the same drift."""
        if self._job.problem.anchor is None or self._is_duel:
            return None
        anchor = Anchor(self._control, known)
        self._give_back(anchor.spent_s)
        return anchor

    def _observe(self, anchor: Anchor) -> float:
        """Call the anchor once; returns the seconds it took."""
        before = anchor.spent_s
        anchor.observe()
        spent_s = anchor.spent_s - before
        self._give_back(spent_s)
        return spent_s

    def _give_back(self, anchor_s: float) -> None:
        """Add the anchor's time to the deadline: it isn't the author's."""
        for runner in self._runners:
            runner.session.deadline += anchor_s
            self._control.extend(runner.session.deadline)
        self._spend("anchor", anchor_s)

    def close(self) -> None:
        """Release what the calls needed."""
        for runner in self._runners:
            runner.close()

    def _refuse_below_floor(self, index: int, median_ns: float, launch_ns: float) -> None:
        floors = self._job.problem.floors
        floor = floors[index] if index < len(floors) else None
        if found := below_floor(floor, self._job.device, median_ns, launch_ns):
            raise AuthorFailure(Verdict.RULE_VIOLATION, found.message, found.evidence)

    def _warm_up(self, index: int, case: Case, taken: Sequence[Samples]) -> tuple[int, float]:
        """Calls like all others that don't become samples; returns how many of each runner, and the
        time of a check in seconds.

        There are at least two: the first one shows where the output is.
        """
        start = time.monotonic()
        until, latest = start + self._rules.warmup_s * len(taken), start + LONGEST_S
        call, check_s = 0, 0.0
        while (
            call < _FEWEST_WARM
            or (now := time.monotonic()) < until
            or (self._on_gpu and not all(one.warming.is_over for one in taken) and now < latest)
        ):
            question, replies = self._round(index, case, call)
            for one, reply in zip(taken, replies, strict=True):
                if call == 0:
                    start = time.monotonic()
                    self._check(case, one.runner, question, reply.value)
                    check_s = max(check_s, time.monotonic() - start)
                one.add_warming(reply)
            call += 1
            del question, replies, reply  # their memory is for the next call's
        return call, check_s

    def _sample(self, index: int, case: Case, call: int, taken: Sequence[Samples]) -> None:
        """One more sample of each."""
        question, replies = self._round(index, case, call)
        for one, reply in zip(taken, replies, strict=True):
            one.add(call, question, reply)

    def _round(self, index: int, case: Case, call: int) -> tuple[Question, list[Reply]]:
        """One call of each runner with the same data, in random order; the replies in that of the
        runners. Raises `AuthorFailure`."""
        start = time.monotonic()
        question = self._question(case, index, call)
        self._spend("generate", time.monotonic() - start)
        reuse = bool(self._random.getrandbits(1))
        order = self._random.sample(range(len(self._runners)), len(self._runners))
        replies = {}
        for place in order:
            runner = self._runners[place]
            replies[place] = runner.call(question, reuse=reuse)
            if self._is_duel and self._on_gpu:  # what it left running there would slow this down
                after = self._control.call(question.given, IDENTITY)
                runner.after_calls_ns.append(after.window.bracket_ns)
        return question, [replies[place] for place in sorted(replies)]

    def _check(self, case: Case, runner: TimedRunner, question: Question, value: Any) -> None:
        """Raises `AuthorFailure` if an output is wrong."""
        start = time.monotonic()
        self._work_out(question)
        with runner.author.blamed():
            wrong = question.complaint(value)
            self._spend("check", time.monotonic() - start)
            if wrong:
                raise wrong_answer(f"Wrong in a timed call of {case.spec}: {wrong}")

    def _work_out(self, question: Question) -> None:
        """Compute the reference's answer, so that timed calls can't pass a tolerant checker with
        another kind of value than tests; not once that takes too long."""
        start = time.monotonic()
        if self._reference_s <= _REFERENCE_SHARE * (start - self._began):
            question.work_out()
            self._reference_s += time.monotonic() - start

    def _question(self, case: Case, index: int, call: int) -> Question:
        seed = call_seed(self._secret, index, call)
        arguments = case_arguments(case, self._job.seed if self._job.secret else None)
        if call:
            arguments = with_seed(arguments, seed)
        return self._examiner.ask(arguments, seed)


def workload_result(measured: Measurement) -> WorkloadResult:
    """The measurement of one runner, with its statistics."""
    (times,) = measured.times
    samples, anchor = times.samples_ns, measured.anchor
    factors = _factors(anchor, samples)
    steady = steady_samples(samples, factors)
    middle = median_time(samples, factors)
    return WorkloadResult(
        spec=measured.case.spec,
        samples_ns=samples,
        median_ns=middle.median_ns,
        mean_ns=statistics.fmean(steady),
        stdev_ns=statistics.stdev(steady) if len(steady) > 1 else 0.0,
        ci95_ns=middle.ci95_ns,
        best_ns=min(steady),
        worst_ns=max(steady),
        checked=times.checked,
        stopped_by=measured.stopped.value,
        empty_call_ns=measured.empty_call_ns,
        anchor_ns=anchor.median_ns if anchor is not None else None,
        drift_factors=factors,
    )


def _factors(anchor: Anchor | None, samples_ns: Sequence[float]) -> tuple[float, ...]:
    return anchor.factors(len(samples_ns)) if anchor is not None else ()


def _refuse_disputably(found: Contradiction | None) -> None:
    if found is not None:
        refused = AuthorFailure(Verdict.RULE_VIOLATION, found.message, found.evidence)
        refused.disputable = True
        raise refused


def _too_few(
    case: Case, count: int, took_s: float, taken: Sequence[Samples]
) -> AuthorFailure | ProblemBroken:
    """Blames whoever took most of the time. Of a duel's authors loading counts too: else one could
    take all of the time for that, and the problem would seem too slow."""
    message = (
        f"Too few samples: {count} of {case.spec} in {took_s:.1f} s, but a score needs "
        f"{FEWEST_FOR_AN_INTERVAL} within the phase's time limit."
    )
    runners_s = sum(one.runner_s for one in taken)
    others_s = took_s - runners_s
    slowest = max((one.runner.author for one in taken), key=lambda author: author.spent_s)
    if (runners_s if len(taken) == 1 else slowest.spent_s) < others_s:
        others = f"Making data, checks and caches took {others_s:.1f} s of it."
        return ProblemBroken(f"{message} {others}")
    failure = AuthorFailure(Verdict.TIME_LIMIT, message)
    failure.of_opponent = slowest.is_opponent
    return failure


def _added_s(samples_ns: list[float], windows: list[Window]) -> float:
    """How much the judge's clocks added to the claims, in seconds, at the median."""
    claimed_ns = statistics.median(window.claim_ns for window in windows)
    return max(statistics.median(samples_ns) - claimed_ns, 0.0) / 1e9
