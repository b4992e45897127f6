"""What a workload's samples come to: which windows count, what is refused, what is doubtful."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.harness.inside.cage.questions import Question
from kernelbot.harness.judge.measuring.anchor import Anchor
from kernelbot.harness.judge.measuring.control_runner import Control
from kernelbot.harness.judge.measuring.measurement import Times
from kernelbot.harness.judge.measuring.refusals import added_s, refuse_disputably
from kernelbot.harness.judge.measuring.rounds import Line, NumberedCase
from kernelbot.harness.judge.measuring.timed_runner import Samples
from kernelbot.harness.judge.test_phase import Spend
from kernelbot.harness.timing.descriptions import with_descriptions
from kernelbot.harness.timing.duel import rules_of
from kernelbot.harness.timing.minority import costly_calls_note, counted_of
from kernelbot.harness.timing.plausibility import CallBaseline, below_floor, disturbance
from kernelbot.harness.timing.processes import interleaved
from kernelbot.harness.timing.waits import Waits, gains_by_repeating
from kernelbot.harness.words.plan import Plan


@dataclass(frozen=True)
class SampledCase(NumberedCase):
    """A workload with the samples that were taken of it until now."""

    known: Question
    """Its first."""
    taken: list[Line]
    empty_call_ns: float
    anchor: Anchor | None
    waits: Waits

    @property
    def sides(self) -> list[Line]:
        """All processes of each kernel."""
        return list(zip(*self.taken, strict=True))

    @property
    def samples(self) -> list[Samples]:
        """The samples of all lines."""
        return [one for line in self.taken for one in line]


class Assessment:
    """Holds samples against clocks, control calls and floors. It calls no kernel."""

    def __init__(self, plan: Plan, control: Control, spend: Spend) -> None:
        self._job = plan.job
        self._is_duel = plan.is_duel
        self.rules = rules_of(plan.job.sampling) if plan.is_duel else plan.job.sampling
        self._control = control
        self._spend = spend

    def baseline(self, index: int, side: Sequence[Samples]) -> CallBaseline:
        """The overhead of calls of one kernel's processes."""
        parts = max(one.parts for one in side)
        return self._control.baseline(index, parts, max(one.size_bytes for one in side))

    def check_side(self, work: SampledCase, side: Line, sampling_s: float) -> None:
        """Hold what a kernel's processes claim and return against clocks and reference, once
        sampling is over; windows that were repeated as well. Raises `AuthorFailure`."""
        _count_descriptions(side)
        baseline, author = self.baseline(work.index, side), side[0].runner.author
        fewest = math.ceil(self.rules.min_samples / len(side))
        with author.blamed():
            refuse_disputably(baseline.contradiction(interleaved([one.windows for one in side])))
            for one in side:
                each_ns = [sample for sample in one.times_ns(baseline) for _ in range(one.calls)]
                one.answers.check(each_ns, fewest * one.calls, sampling_s / len(side))

    def times(
        self, work: SampledCase, turns: int | None = None, *, may_suspect: bool = True
    ) -> tuple[Times, ...]:
        """The samples of each kernel, of so many turns (None: of all), with the first window for
        each if repeating has gained something. Raises `AuthorFailure`."""
        samples, firsts = list[list[float]](), list[list[float]]()
        for side in work.sides:
            _count_descriptions(side)
            counted = counted_of([one.windows for one in side], self.baseline(work.index, side))
            calls = side[0].calls
            samples.append(counted.samples_ns([one.places[:turns] for one in side], calls))
            firsts.append(counted.samples_ns([one.firsts[:turns] for one in side], calls))
        work.waits.firsts_count = gains_by_repeating(samples, firsts)
        chosen = firsts if work.waits.firsts_count else samples
        return tuple(
            Times(
                tuple(samples_ns),
                sum(one.answers.checked for one in side),
                self._doubt(work, side, samples_ns) if may_suspect else None,
                self._note(work, side, samples_ns) if may_suspect else None,
            )
            for side, samples_ns in zip(work.sides, chosen, strict=True)
        )

    def count_unexplained(self, work: SampledCase) -> int:
        """Count samples, in a duel pairs, of which only waiting explains how long they took."""
        of_each = []
        for side in work.sides:
            baseline = self.baseline(work.index, side)
            windows = interleaved([[one.windows[at] for at in one.places] for one in side])
            of_each.append([baseline.has_waited(window) for window in windows])
        return sum(map(any, zip(*of_each, strict=True)))

    def refuse_disturbances(self, taken: Sequence[Line]) -> None:
        """Refuse kernels of a duel that worked while the other one was timed. Raises
        `AuthorFailure`."""
        if not self._is_duel:
            return
        mine, theirs = zip(*taken, strict=True)
        for side, other in ((mine, theirs), (theirs, mine)):
            calls = sum(len(one.windows) for one in side)
            idle_cpu_ns = sum(one.runner.idle_cpu_ns for one in side) / calls
            after_ns, after_other_ns = (
                [each for one in samples for each in one.runner.after_calls_ns]
                for samples in (side, other)
            )
            with side[0].runner.author.blamed():
                refuse_disputably(disturbance(idle_cpu_ns, after_ns, after_other_ns))

    def _note(self, work: SampledCase, side: Line, samples_ns: list[float]) -> str | None:
        """What to tell of samples that count more than their calls took."""
        baseline, firsts_count = self.baseline(work.index, side), work.waits.firsts_count
        of_each = [
            (one.times_ns(baseline), one.firsts if firsts_count else one.places) for one in side
        ]
        plain_ns = interleaved([[ns[at] for at in places] for ns, places in of_each])
        return costly_calls_note(f"{_whose(side)}{work.case.spec}", plain_ns, samples_ns)

    def _doubt(self, work: SampledCase, side: Line, samples_ns: list[float]) -> str | None:
        """Why to doubt a kernel's samples. Raises `AuthorFailure` if they can't be."""
        baseline, author = self.baseline(work.index, side), side[0].runner.author
        windows = interleaved([one.windows for one in side])
        with author.blamed():
            self._spend("added to claims", added_s(samples_ns, windows, side[0].calls))
            self._refuse_below_floor(work.index, statistics.median(samples_ns), baseline.launch_ns)
        doubt = baseline.suspicion(windows)
        return None if doubt is None else f"{_whose(side)}{work.case.spec}: {doubt}"

    def _refuse_below_floor(self, index: int, median_ns: float, launch_ns: float) -> None:
        floors = self._job.problem.floors
        floor = floors[index] if index < len(floors) else None
        refuse_disputably(below_floor(floor, self._job.device, median_ns, launch_ns))


def _count_descriptions(side: Line) -> None:
    """Let work after the mark count in all windows of a kernel that has disowned an output."""
    counted = with_descriptions([one.windows for one in side])
    for one, windows in zip(side, counted, strict=True):
        one.windows = windows


def _whose(side: Line) -> str:
    return "The opponent, " if side[0].runner.author.is_opponent else ""
