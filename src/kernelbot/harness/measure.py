"""The timed phases: new data for every call, cold caches, and two clocks that must agree."""

import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kernelbot.harness.checking import complaint
from kernelbot.harness.clocks import CacheFlusher
from kernelbot.harness.crosscheck import Baseline, below_floor
from kernelbot.harness.direct import DirectCaller
from kernelbot.harness.problem import LoadedProblem
from kernelbot.harness.sampling import StoppedBy, StoppingRule, median_interval
from kernelbot.harness.seeds import call_seed, case_arguments, with_seed
from kernelbot.harness.session import AuthorFailure, Reply, Session, Window
from kernelbot.harness.testing import encode_input, refuse_side_effects, wrong_answer
from kernelbot.protocol import Case, Floor, JobSpec, Vendor, Verdict, WorkloadResult

Spend = Callable[[str, float], None]

_WARMING_CALLS = 5
_COLD_CALLS = 5
_CHEAP_CHECK_SHARE = 0.25
"""A check counts as cheap while all checks together take less than this of the elapsed time."""


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
        problem: LoadedProblem,
        session: Session,
        flusher: CacheFlusher,
        spend: Spend,
    ) -> None:
        self._job = job
        self._problem = problem
        self._session = session
        self._flusher = flusher
        self._spend = spend
        self._secret = os.urandom(32)
        self._random = random.SystemRandom()
        self._empty_call_ns: float | None = None
        on_cpu = job.device.vendor is Vendor.CPU
        self._direct = DirectCaller(session, problem.modules) if on_cpu else None
        self._caller: DirectCaller | Session = self._direct or session
        self._baselines: dict[int, Baseline] = {}

    def calibrate(self, cases: Sequence[tuple[int, Case]]) -> None:
        """Empty calls, before any code of the author's: what a call costs by itself."""
        for index, case in cases:
            encoded = encode_input(self._data(case, index, 0), self._problem.modules)
            for call in range(_WARMING_CALLS):
                self._caller.timed_call(encoded, None, bool(call % 2), "identity")
            empty = [
                self._caller.timed_call(encoded, None, bool(call % 2), "nothing")
                for call in range(_WARMING_CALLS)
            ]
            cold = [
                self._caller.timed_call(encoded, self._flusher, bool(call % 2), "identity")
                for call in range(_COLD_CALLS)
            ]
            self._baselines[index] = Baseline.of(
                [reply.window for reply in cold], cold[-1].size_bytes
            )
            self._empty_call_ns = statistics.median(reply.window.claim_ns for reply in empty)
        self._release()

    def measure(self, index: int, case: Case, workloads_left: int) -> Measurement:
        """Sample one workload until the stopping rule is satisfied. Raises `AuthorFailure`."""
        start = time.monotonic()
        left_s = (self._session.deadline - start) * 0.9 / workloads_left
        rules = self._job.sampling
        rule = StoppingRule(rules, min(rules.wall_cap_s, left_s))
        call = self._warm_up(index, case)
        baseline = self._baselines[index]
        windows: list[Window] = []
        checked = 0
        check_s = 0.0
        stopped: StoppedBy | None = None
        while stopped is None:
            elapsed = time.monotonic() - start
            check = (
                not windows
                or self._random.random() < rules.check_share
                or check_s < _CHEAP_CHECK_SHARE * elapsed
            )
            reply, spent = self._one_call(index, case, call, check)
            call += 1
            checked += check
            check_s += spent
            windows.append(reply.window)
            rule.add(baseline.bounded_ns(reply.window, reply.size_bytes))
            stopped = rule.decide(time.monotonic() - start)
        self._release()
        if found := baseline.contradiction(windows, reply.size_bytes):
            refused = AuthorFailure(Verdict.RULE_VIOLATION, found.message, found.evidence)
            refused.disputable = True
            raise refused
        result = _summary(case, rule.samples_ns, checked, stopped, self._empty_call_ns)
        if found := below_floor(self._floor(index), self._job.device, result.median_ns):
            raise AuthorFailure(Verdict.RULE_VIOLATION, found.message, found.evidence)
        return Measurement(result, tuple(windows))

    def close(self) -> None:
        """Give back what the calls needed."""
        if self._direct is not None:
            self._direct.close()

    def _release(self) -> None:
        if self._direct is not None:
            self._direct.release()

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
        data = self._data(case, index, call)
        encoded = encode_input(data, self._problem.modules)
        self._spend("generate", time.monotonic() - start)
        reuse = bool(self._random.getrandbits(1))
        reply = self._caller.timed_call(encoded, self._flusher, reuse)
        self._spend("kernel", reply.window.claim_ns / 1e9)
        called = time.monotonic()
        if check:
            refuse_side_effects(self._job, self._caller, encoded, reply.aliased)
            wrong = complaint(self._problem, data, reply.value)
            if wrong:
                raise wrong_answer(f"Wrong in a timed call of {case.spec}: {wrong}")
        spent = time.monotonic() - called
        self._spend("check", spent)
        return reply, spent

    def _data(self, case: Case, index: int, call: int) -> Any:
        seed = call_seed(self._secret, index, call)
        arguments = case_arguments(case, self._job.seed if self._job.secret else None)
        if call:
            arguments = with_seed(arguments, seed)
        return self._problem.make_input(arguments, seed)


def _summary(
    case: Case,
    samples: list[float],
    checked: int,
    stopped: StoppedBy,
    empty_call_ns: float | None,
) -> WorkloadResult:
    return WorkloadResult(
        spec=case.spec,
        samples_ns=tuple(samples),
        median_ns=statistics.median(samples),
        mean_ns=statistics.fmean(samples),
        stdev_ns=statistics.stdev(samples) if len(samples) > 1 else 0.0,
        ci95_ns=median_interval(samples),
        best_ns=min(samples),
        worst_ns=max(samples),
        checked=checked,
        stopped_by=stopped.value,
        empty_call_ns=empty_call_ns,
    )
