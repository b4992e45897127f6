"""Whether the device has room for a job's workloads, and whose fault it is if it hasn't."""

from collections.abc import Iterable, Sequence

from kernelbot.harness.gpu.device_data import DeviceData
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.inside.cage.loader import ProblemBroken, ProblemFull
from kernelbot.harness.inside.gpu.driver import DeviceFull
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.judge.problem.examiner import Examiner
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.seeds import case_arguments
from kernelbot.protocol import Case, Phase, Verdict
from kernelbot.protocol.phases import TIMED, cases_of

_FREED_S = 5.0
"""How long a driver may take to free the memory of a process that was killed."""
_COPIES = {False: 3, True: 6}
"""How often a call's data lies on the device, by whether it is timed: with the problem, with the
judge, and in the author's arena; if it is timed, twice with each of the first two, since the
control runner has data of its own, and in that one's arena. In a duel also in the opponent's."""
_COPIES_OF_RANKS = {False: 3, True: 5}
"""The same on each rank's device, whose process of the problem's keeps the latest data alone."""
_MADE = 2
"""So many of them are there once a question was asked: the problem's and the judge's."""


class DeviceRoom:
    """The memory of one job's devices."""

    def __init__(self, plan: Plan, examiner: Examiner, devices: tuple[JudgeDevice, ...]) -> None:
        """`devices`: the judge's, one for each rank."""
        self._plan = plan
        self._examiner = examiner
        self._devices = devices

    def check(self, phases: Iterable[Phase]) -> None:
        """Make each case's data once, while no author's code is there to take memory. Raises
        `ProblemBroken` if a device can't hold what judging it takes."""
        checked: list[tuple[bool, Case]] = []
        for phase in phases:
            for _, case in cases_of(self._plan.job.problem, phase):
                key = phase in TIMED, case
                if key not in checked:
                    self._check(case, timed=phase in TIMED)
                    checked.append(key)

    def _check(self, case: Case, *, timed: bool) -> None:
        try:
            given = self._examiner.ask(case_arguments(case, self._plan.secret_seed), 0).given
        except (DeviceFull, ProblemFull) as error:
            raise _does_not_fit(case, str(error)) from error
        of_ranks = self._plan.has_ranks
        copies = (_COPIES_OF_RANKS if of_ranks else _COPIES)[timed]
        copies += timed and self._plan.is_duel
        for rank, part in enumerate(given.parts):
            piece = part.piece if isinstance(part, DeviceData) else None
            needed = piece.size_bytes if piece is not None else 0
            if not self._devices[rank].has_room((copies - _MADE) * needed, 0.0):
                whose = f"rank {rank}'s" if of_ranks else "its"
                why = f"{whose} {needed >> 20} MiB of data lie there {copies} times, beside outputs"
                raise _does_not_fit(case, why)

    def _free_bytes(self) -> int:
        return sum(device.driver.free_bytes() for device in self._devices)

    def end_all(self, sessions: Sequence[Session]) -> int:
        """End the runners one by one; returns which of them held most of the device's memory."""
        freed = []
        for session in sessions:
            before = self._free_bytes()
            session.abort()
            freed.append(self._free_bytes() - before)
        return freed.index(max(freed))

    def blame(self, phase: Phase, error: DeviceFull | ProblemFull) -> AuthorFailure:
        """The device was full for the judge or the problem, and the author's runner is gone now: it
        was the author's fault if there is room without it. Raises `ProblemBroken` if there isn't.
        """
        if isinstance(error, ProblemFull):
            self.check([phase])
        elif not self._devices[error.number].has_room(error.size_bytes, _FREED_S):
            raise ProblemBroken(
                f"This workload doesn't fit the device: {error.size_bytes >> 20} MiB more were "
                "needed for data and outputs. Make its largest case smaller, or use a device with "
                "more memory."
            ) from error
        return AuthorFailure(
            Verdict.MEMORY_LIMIT,
            "The submission holds so much of the device's memory that a call's data has no room. "
            "Keep less there between calls.",
            str(error),
        )


def _does_not_fit(case: Case, why: str) -> ProblemBroken:
    return ProblemBroken(
        f"This workload doesn't fit the device: {case.spec}: {why}. Make it smaller, or use a "
        "device with more memory."
    )
