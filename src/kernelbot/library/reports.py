"""The report on one source."""

from dataclasses import dataclass, field
from typing import Any

from kernelbot.library.baselines import Baseline
from kernelbot.library.rewards import RewardRule, reward, rule_for
from kernelbot.protocol import (
    CaseResult,
    CompileReport,
    Fault,
    Mode,
    Phase,
    RunResult,
    Verdict,
    WorkloadResult,
)
from kernelbot.protocol.scoring import scoring_workloads
from kernelbot.protocol.waits import BUSY_SHARE, busy_text, waited_share


@dataclass(frozen=True)
class Report:
    """How one source was judged, or why it couldn't be. `str` of it is what a terminal shows."""

    result: RunResult = field(repr=False)
    """All that the judge said."""
    tests_total: int
    """How many test cases the problem has; `tests` has those that were run."""
    baseline: Baseline | None = None
    """The problem's reference, timed within a minute of this; None if nobody asked for it, or if
    the source has no times."""
    number: int = 0
    """The place of its pair among those given to `many`, from 0."""

    @property
    def verdict(self) -> Verdict:
        """`INTERNAL_ERROR`: it couldn't be judged, and `fault` isn't the author's."""
        return self.result.verdict

    @property
    def accepted(self) -> bool:
        """Whether all tests passed, and nothing else was wrong."""
        return self.verdict is Verdict.ACCEPTED

    @property
    def problem(self) -> str:
        """The problem's name."""
        return self.result.problem

    @property
    def mode(self) -> Mode:
        """What was asked for."""
        return self.result.mode

    @property
    def device(self) -> str:
        """The name of the device."""
        return self.result.system.device

    @property
    def fault(self) -> Fault | None:
        """Whose fault it is that it wasn't accepted; None if it was."""
        return self.result.failure.fault if self.result.failure else None

    @property
    def message(self) -> str:
        """Why it wasn't accepted, a sentence; empty if it was."""
        return self.result.failure.message if self.result.failure else ""

    @property
    def evidence(self) -> str:
        """What was seen of the failure, such as a traceback."""
        return self.result.failure.evidence if self.result.failure else ""

    @property
    def tests(self) -> tuple[CaseResult, ...]:
        """The test cases that were run, each with what the checker said."""
        found = (phase.cases for phase in self.result.phases if phase.phase is Phase.TEST)
        return next(found, ())

    @property
    def passed_share(self) -> float:
        """Share of the problem's test cases that were accepted."""
        passed = sum(case.verdict is Verdict.ACCEPTED for case in self.tests)
        return passed / self.tests_total if self.tests_total else float(self.accepted)

    @property
    def workloads(self) -> tuple[WorkloadResult, ...]:
        """The measurements that the score is made of, with their samples and intervals."""
        by_phase = {phase.phase: phase.workloads for phase in self.result.phases}
        return tuple(scoring_workloads(by_phase))

    @property
    def score_s(self) -> float | None:
        """By the problem's ranking rule; None unless it was accepted with times."""
        return self.result.score_s

    @property
    def score_ci95_s(self) -> tuple[float, float] | None:
        """95 % interval of the score, of this judging alone."""
        return self.result.score_ci95_s

    @property
    def speed_ci95(self) -> tuple[float, float] | None:
        """How many times as fast as the baseline it is: the baseline's time divided by its own,
        from the ends of both intervals. None without both."""
        if self.baseline is None or self.score_ci95_s is None:
            return None
        (fast_s, slow_s), (low_s, high_s) = self.baseline.score_ci95_s, self.score_ci95_s
        return fast_s / high_s, slow_s / low_s

    @property
    def suspicions(self) -> tuple[str, ...]:
        """Reasons to doubt the times of what was accepted, a sentence each."""
        return self.result.suspicions

    @property
    def recurring_data(self) -> str:
        """Why its times may be those of remembered answers, a sentence: timed calls had the same
        data again, which is the problem's mistake. Empty if they hadn't, or the problem says that
        it can't do otherwise."""
        return self.result.recurring_data

    @property
    def busy(self) -> str:
        """Why its times, or those of its baseline, wouldn't be ranked, by nobody's fault, a
        sentence: most calls waited for a processor. Empty if that isn't so, or if there are no
        times. A reward doesn't ask for it."""
        timed = (*self.workloads, *(self.baseline.workloads if self.baseline else ()))
        share = max(map(waited_share, timed), default=0.0)
        return f"{busy_text(share)}." if self.score_s is not None and share > BUSY_SHARE else ""

    @property
    def rule_violation(self) -> str:
        """How it broke the rules of judging; empty if it didn't."""
        return self.message if self.verdict is Verdict.RULE_VIOLATION else ""

    @property
    def compile(self) -> CompileReport | None:
        """The build step; None if there was none."""
        return self.result.compile

    @property
    def compile_error(self) -> str:
        """What the compiler, or Python, said of a source that doesn't compile; else empty."""
        if self.verdict is not Verdict.COMPILE_ERROR:
            return ""
        said = (self.message, self.evidence, self.compile.output if self.compile else "")
        return "\n".join(filter(None, said))

    @property
    def stdout(self) -> str:
        """What the program printed."""
        return self.result.stdout

    @property
    def stderr(self) -> str:
        """What the program printed there."""
        return self.result.stderr

    def reward(self, rule: RewardRule | str) -> float | None:
        """A number by a rule, or by the plain rule of a kind. None if it couldn't be judged, and
        for a speed if the data recur. Raises `UserError` for an unknown kind, and if times are
        needed that aren't there."""
        return reward(self, rule_for(rule))

    def document(self) -> dict[str, Any]:
        """What `kernelbot run --json` prints, with the suspicions."""
        from kernelbot.runs.report import ResultView
        from kernelbot.schemas.values import plain  # takes longer than all else here

        document = plain(ResultView.from_result(self.result))
        return {**document, "suspicions": list(self.suspicions)}

    def __str__(self) -> str:
        """The text of `kernelbot run`."""
        from kernelbot.render.report import report

        return report(self.result)
