"""The timed phases: new data for every call, cold caches, and two clocks that must agree."""

import os
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kernelbot.harness.judge.failures import AuthorFailure
from kernelbot.harness.judge.test_phase import refuse_side_effects, wrong_answer
from kernelbot.harness.judge.windows import OutputLayout, Reply, Window
from kernelbot.harness.problem.loader import ProblemBroken
from kernelbot.harness.problem.questions import Examiner, Question
from kernelbot.harness.problem.seeds import call_seed, case_arguments, with_seed
from kernelbot.harness.runner_client.arena_caller import ArenaCaller
from kernelbot.harness.runner_client.conversations import AnySession, caller_of
from kernelbot.harness.timing.anchor import EVERY, Anchor, without_drift
from kernelbot.harness.timing.answers import Answers, are_alike
from kernelbot.harness.timing.clocks import CacheFlusher
from kernelbot.harness.timing.control_runner import Control
from kernelbot.harness.timing.plausibility import Baseline, below_floor
from kernelbot.harness.timing.stopping_rule import (
    FEWEST_FOR_AN_INTERVAL,
    StoppedBy,
    StoppingRule,
    median_interval,
)
from kernelbot.harness.timing.warming import LONGEST_S, Warming
from kernelbot.protocol import Case, JobSpec, Vendor, Verdict, WorkloadResult

Spend = Callable[[str, float], None]

_CONTROL_EVERY = 4
"""Number of the author's calls per call of the control runner, which comes before them."""
_CONTROL_FIRST = 20
"""For this many calls at the beginning, a control call comes before each."""
_FEWEST_WARM = 2
_CALIBRATION_SHARE = 0.1
"""Of a workload's time, after which calibration makes no more calls than it must."""
_REFERENCE_SHARE = 0.1
"""The reference's answer is computed for each check while that takes less than this share."""


@dataclass(frozen=True)
class Measurement:
    """One workload's result, and what the judge's clocks measured."""

    result: WorkloadResult
    windows: tuple[Window, ...]
    suspicions: tuple[str, ...] = ()
    """Reasons to doubt the samples that aren't enough to refuse them; for organisers."""


class Measurer:
    """Measures workloads on one runner."""

    def __init__(
        self,
        job: JobSpec,
        examiner: Examiner,
        session: AnySession,
        control: Control,
        flusher: CacheFlusher,
        spend: Spend,
    ) -> None:
        self._job = job
        self._examiner = examiner
        self._session = session
        self._control = control
        self._flusher = flusher
        self._spend = spend
        self._secret = os.urandom(32)
        self._random = random.SystemRandom()
        self._caller = caller_of(job, session)
        self._began = time.monotonic()
        self._reference_s = 0.0

    def measure(self, index: int, case: Case, workloads_left: int) -> Measurement:
        """Sample one workload until the stopping rule is satisfied. Raises `AuthorFailure`."""
        rules = self._job.sampling
        known = self._question(case, index, 0)
        repeatable = are_alike(known, self._question(case, index, 0))
        if isinstance(self._caller, ArenaCaller):  # no more memory is made ready than it needs
            known.work_out()
            self._caller.bound(known.max_output_bytes())
        self._caller.hold()
        budget_s = _CALIBRATION_SHARE * self._left_s(workloads_left)
        empty_call_ns = self._control.calibrate(index, known.given, budget_s)
        anchor = self._anchor(known)
        answers = Answers(
            lambda call: self._question(case, index, call),
            lambda question, value: self._check(case, question, value),
            repeatable=repeatable,
            share=rules.check_share,
        )
        call, check_s, layouts = self._warm_up(index, case)
        self._control.follow(index, known.given, layouts)
        # Only from here on: preparing takes seconds with gigabytes of data, and gives no sample.
        start, left_s = time.monotonic(), self._left_s(workloads_left)
        rule = StoppingRule(rules, min(max(rules.wall_cap_s, rules.patience_s), left_s), left_s)
        windows: list[Window] = []
        parts, runner_s = 1, 0.0
        stopped: StoppedBy | None = None
        while stopped is None:
            if len(windows) < _CONTROL_FIRST or len(windows) % _CONTROL_EVERY == 0:
                self._control.observe(index, known.given)
            if anchor is not None and len(windows) % EVERY == 0:
                start += self._observe(anchor)
            question, reply = self._one_call(index, case, call)
            answers.add(call, question, reply)
            call += 1
            windows.append(reply.window)
            runner_s += (reply.window.bracket_ns + reply.window.outside_ns) / 1e9
            parts = reply.parts
            self._control.follow(index, known.given, reply.layouts)
            rule.add(self._control.baseline(index, parts).bounded_ns(reply.window))
            # The checks at the end count already, or the time limit would be exceeded.
            elapsed = time.monotonic() - start + answers.owed_s(check_s, rules.min_samples)
            stopped = rule.decide(elapsed, elapsed - runner_s)
            del question, reply  # their memory is for the next call's
        if rule.too_few:
            raise _too_few(case, len(windows), time.monotonic() - start, runner_s)
        self._caller.hold()
        baseline = self._control.baseline(index, parts)
        _refuse_contradiction(baseline, windows)
        samples_ns = [baseline.bounded_ns(window) for window in windows]
        answers.check(samples_ns, rules.min_samples, time.monotonic() - start)
        self._caller.release()
        self._spend("added to claims", _added_s(samples_ns, windows))
        self._refuse_below_floor(index, statistics.median(samples_ns), baseline.launch_ns)
        result = _summary(case, samples_ns, answers.checked, stopped, empty_call_ns, anchor)
        doubt = baseline.suspicion(windows)
        suspicions = () if doubt is None else (f"{case.spec}: {doubt}",)
        return Measurement(result, tuple(windows), suspicions)

    def _left_s(self, workloads_left: int) -> float:
        """This workload's part of the phase's time."""
        return (self._session.deadline - time.monotonic()) * 0.9 / workloads_left

    def _anchor(self, known: Question) -> Anchor | None:
        """The problem's anchor, warm; None if it has none."""
        if self._job.problem.anchor is None:
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
        self._session.deadline += anchor_s
        self._control.extend(self._session.deadline)
        self._spend("anchor", anchor_s)

    def close(self) -> None:
        """Release what the calls needed."""
        self._caller.close()

    def _refuse_below_floor(self, index: int, median_ns: float, launch_ns: float) -> None:
        floors = self._job.problem.floors
        floor = floors[index] if index < len(floors) else None
        if found := below_floor(floor, self._job.device, median_ns, launch_ns):
            raise AuthorFailure(Verdict.RULE_VIOLATION, found.message, found.evidence)

    def _warm_up(self, index: int, case: Case) -> tuple[int, float, tuple[OutputLayout, ...]]:
        """Calls like all others that don't become samples; returns how many, the time of a check in
        seconds, and what each rank's output consists of, if that is known.

        There are at least two: the first one shows where the output is.
        """
        start = time.monotonic()
        until, latest = start + self._job.sampling.warmup_s, start + LONGEST_S
        on_gpu = self._job.device.vendor is not Vendor.CPU
        warming = Warming()
        call, check_s = 0, 0.0
        layouts: tuple[OutputLayout, ...] = ()
        while (
            call < _FEWEST_WARM
            or (now := time.monotonic()) < until
            or (on_gpu and not warming.is_over and now < latest)
        ):
            question, reply = self._one_call(index, case, call)
            if call == 0:
                start = time.monotonic()
                self._check(case, question, reply.value)
                check_s = time.monotonic() - start
            layouts = reply.layouts
            warming.add(reply.window.claim_ns)
            call += 1
            del question, reply  # as in `measure`
        return call, check_s, layouts

    def _one_call(self, index: int, case: Case, call: int) -> tuple[Question, Reply]:
        start = time.monotonic()
        question = self._question(case, index, call)
        self._spend("generate", time.monotonic() - start)
        reuse = bool(self._random.getrandbits(1))
        reply = self._caller.timed_call(question.given, self._flusher, reuse)
        self._spend("kernel", reply.window.claim_ns / 1e9)
        refuse_side_effects(self._job, self._caller, question, reply.aliased)
        return question, reply

    def _check(self, case: Case, question: Question, value: Any) -> None:
        """Raises `AuthorFailure` if an output is wrong."""
        start = time.monotonic()
        self._work_out(question)
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


def _refuse_contradiction(baseline: Baseline, windows: list[Window]) -> None:
    if found := baseline.contradiction(windows):
        refused = AuthorFailure(Verdict.RULE_VIOLATION, found.message, found.evidence)
        refused.disputable = True
        raise refused


def _too_few(
    case: Case, count: int, took_s: float, runner_s: float
) -> AuthorFailure | ProblemBroken:
    """Blames whoever took most of the time. `runner_s`: of `took_s`, seconds of the author's."""
    message = (
        f"Too few samples: {count} of {case.spec} in {took_s:.1f} s, but a score needs "
        f"{FEWEST_FOR_AN_INTERVAL} within the phase's time limit."
    )
    if runner_s >= took_s / 2:
        return AuthorFailure(Verdict.TIME_LIMIT, message)
    others_s = took_s - runner_s
    return ProblemBroken(f"{message} Making data, checks and caches took {others_s:.1f} s of it.")


def _added_s(samples_ns: list[float], windows: list[Window]) -> float:
    """How much the judge's clocks added to the claims, in seconds, at the median."""
    claimed_ns = statistics.median(window.claim_ns for window in windows)
    return max(statistics.median(samples_ns) - claimed_ns, 0.0) / 1e9


def _summary(
    case: Case,
    samples: list[float],
    checked: int,
    stopped: StoppedBy,
    empty_call_ns: float,
    anchor: Anchor | None,
) -> WorkloadResult:
    factors = anchor.factors(len(samples)) if anchor is not None else ()
    steady = without_drift(samples, factors) if factors else samples
    return WorkloadResult(
        spec=case.spec,
        samples_ns=tuple(samples),
        median_ns=statistics.median(steady),
        mean_ns=statistics.fmean(steady),
        stdev_ns=statistics.stdev(steady) if len(steady) > 1 else 0.0,
        ci95_ns=median_interval(steady),
        best_ns=min(steady),
        worst_ns=max(steady),
        checked=checked,
        stopped_by=stopped.value,
        empty_call_ns=empty_call_ns,
        anchor_ns=anchor.median_ns if anchor is not None else None,
        drift_factors=factors,
    )
