"""The timed phases: new data for every call, cold caches, and two clocks that must agree."""

import os
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from kernelbot.harness.anchor import EVERY, Anchor, without_drift
from kernelbot.harness.clocks import CacheFlusher
from kernelbot.harness.control import Control
from kernelbot.harness.conversations import AnySession, caller_of
from kernelbot.harness.crosscheck import below_floor
from kernelbot.harness.examining import Examiner, Question
from kernelbot.harness.failure import AuthorFailure
from kernelbot.harness.sampling import StoppedBy, StoppingRule, median_interval
from kernelbot.harness.seeds import call_seed, case_arguments, with_seed
from kernelbot.harness.testing import refuse_side_effects, wrong_answer
from kernelbot.harness.windows import Reply, Window
from kernelbot.protocol import Case, Floor, JobSpec, Vendor, Verdict, WorkloadResult

Spend = Callable[[str, float], None]

_CONTROL_EVERY = 4
"""A call of the control runner comes before every so many of the author's, or before each."""
_CHEAP_CHECK_SHARE = 0.25
"""A check counts as cheap while all checks together take less than this of the elapsed time."""
_REFERENCE_SHARE = 0.1
"""The reference's answer is asked for beside the checker's while that takes less than this."""


@dataclass(frozen=True)
class Measurement:
    """One workload's figures, and what the judge's clocks saw."""

    result: WorkloadResult
    windows: tuple[Window, ...]


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
        start = time.monotonic()
        left_s = (self._session.deadline - start) * 0.9 / workloads_left
        rules = self._job.sampling
        rule = StoppingRule(rules, min(max(rules.wall_cap_s, rules.patience_s), left_s))
        known = self._question(case, index, 0)
        self._caller.hold()
        empty_call_ns = self._control.calibrate(index, known.given)
        anchor = self._anchor(known)
        start += anchor.spent_s if anchor is not None else 0.0
        call = self._warm_up(index, case)
        windows: list[Window] = []
        checked = 0
        parts = every = 1
        check_s = 0.0
        stopped: StoppedBy | None = None
        while stopped is None:
            elapsed = time.monotonic() - start
            check = (
                not windows
                or self._random.random() < rules.check_share
                or check_s < _CHEAP_CHECK_SHARE * elapsed
            )
            if len(windows) % _CONTROL_EVERY == 0:
                every = self._control_every(index, windows, parts)
            if len(windows) % every == 0:
                self._control.observe(index, known.given)
            if anchor is not None and len(windows) % EVERY == 0:
                start += self._observe(anchor)
            reply, spent = self._one_call(index, case, call, check)
            call += 1
            checked += check
            check_s += spent
            windows.append(reply.window)
            parts = reply.parts
            rule.add(self._control.baseline(index).bounded_ns(reply.window, parts))
            stopped = rule.decide(time.monotonic() - start)
        self._caller.release()
        if found := self._control.baseline(index).contradiction(windows, parts):
            refused = AuthorFailure(Verdict.RULE_VIOLATION, found.message, found.evidence)
            refused.disputable = True
            raise refused
        samples_ns = self._corrected(index, rule.samples_ns, windows, parts)
        measured_ns = statistics.median(samples_ns)
        if found := below_floor(self._floor(index), self._job.device, measured_ns):
            raise AuthorFailure(Verdict.RULE_VIOLATION, found.message, found.evidence)
        result = _summary(case, samples_ns, checked, stopped, empty_call_ns, anchor)
        return Measurement(result, tuple(windows))

    def _control_every(self, index: int, windows: list[Window], parts: int) -> int:
        """Before every call of a short kernel: of the little that the clocks see the control's
        part is most, and what isn't known of it is room for lies."""
        on_cpu = self._job.device.vendor is Vendor.CPU
        if on_cpu and not self._control.baseline(index).leaves_little_to_gain(windows, parts):
            return 1
        return _CONTROL_EVERY

    def _corrected(
        self, index: int, samples_ns: list[float], windows: list[Window], parts: int
    ) -> list[float]:
        """The samples, later by what the clocks of all calls together say that they lack."""
        least_ns = self._control.baseline(index).least_median_ns(windows, parts)
        lack_ns = max(least_ns - statistics.median(samples_ns), 0.0)
        if not lack_ns or self._job.device.vendor is not Vendor.CPU:
            return samples_ns
        self._spend("added to claims", lack_ns / 1e9)
        return [sample_ns + lack_ns for sample_ns in samples_ns]

    def _anchor(self, known: Question) -> Anchor | None:
        """The problem's anchor, warm; None where it has none."""
        if self._job.problem.anchor is None:
            return None
        anchor = Anchor(self._control, known)
        self._give_back(anchor.spent_s)
        return anchor

    def _observe(self, anchor: Anchor) -> float:
        """One more call of the anchor; the seconds it took."""
        before = anchor.spent_s
        anchor.observe()
        spent_s = anchor.spent_s - before
        self._give_back(spent_s)
        return spent_s

    def _give_back(self, anchor_s: float) -> None:
        """The anchor's time isn't the author's: his phase ends later by as much."""
        self._session.deadline += anchor_s
        self._control.extend(self._session.deadline)
        self._spend("anchor", anchor_s)

    def close(self) -> None:
        """Give back what the calls needed."""
        self._caller.close()

    def _floor(self, index: int) -> Floor | None:
        floors = self._job.problem.floors
        return floors[index] if index < len(floors) else None

    def _warm_up(self, index: int, case: Case) -> int:
        """Calls like all others, kept out of the samples; returns how many."""
        until = time.monotonic() + self._job.sampling.warmup_s
        call = 0
        while call == 0 or time.monotonic() < until:
            self._one_call(index, case, call, check=call == 0)
            call += 1
        return call

    def _one_call(self, index: int, case: Case, call: int, check: bool) -> tuple[Reply, float]:
        start = time.monotonic()
        question = self._question(case, index, call)
        self._spend("generate", time.monotonic() - start)
        reuse = bool(self._random.getrandbits(1))
        reply = self._caller.timed_call(question.given, self._flusher, reuse)
        self._spend("kernel", reply.window.claim_ns / 1e9)
        called = time.monotonic()
        if check:
            refuse_side_effects(self._job, self._caller, question, reply.aliased)
            self._work_out(question)
            wrong = question.complaint(reply.value)
            if wrong:
                raise wrong_answer(f"Wrong in a timed call of {case.spec}: {wrong}")
        spent = time.monotonic() - called
        self._spend("check", spent)
        return reply, spent

    def _work_out(self, question: Question) -> None:
        """The reference's answer, so that a tolerant checker can't be given another kind of value
        in timed calls than in tests; not once that would take too long."""
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
