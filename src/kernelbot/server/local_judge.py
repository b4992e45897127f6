"""Judges jobs on this machine without a server, by the warm judge if there can be one."""

from collections.abc import Callable

from kernelbot.harness.host.warm.connection import WAITS, NoWarmJudge
from kernelbot.harness.host.warm.folder import NotOurs, PrivateFolder, default_folder
from kernelbot.harness.host.warm.turns import turn
from kernelbot.protocol import JobSpec, ProgressEvent, RunResult, SandboxMode
from kernelbot.server.judging_settings import (
    JudgingSettings,
    cached_judging_settings,
    read_judging_settings,
)
from kernelbot.server.warm_judge import warm_judge

OnEvent = Callable[[ProgressEvent], None]
OnStep = Callable[[str], None]


class LocalJudge:
    """One command's judge. One job at a time of each user is judged."""

    def __init__(self, on_step: OnStep, *, sandbox: SandboxMode, cold: bool) -> None:
        """`on_step` is told what else happens. `cold`: by processes of its own, as it is without a
        sandbox in any case: what such a file leaves behind must not reach the next."""
        self._on_step = on_step
        self._warm = not cold and sandbox is SandboxMode.REQUIRED
        self._folder = _private_folder(on_step)

    def settings(self) -> JudgingSettings:
        """What jobs are made with. Raises `UserError`."""
        if self._folder is None or not self._warm:
            return read_judging_settings()
        return cached_judging_settings(self._folder)

    def close(self) -> None:
        """Nothing can be judged any more. A warm judge stays for the next ones."""
        if self._folder is not None:
            self._folder.close()
            self._folder = None

    def judge(self, job: JobSpec, on_event: OnEvent) -> RunResult:
        """Judge and wait."""
        if self._folder is None:
            return _judge_cold(job, on_event)
        if self._warm:
            try:
                return warm_judge(self._folder).judge(job, on_event, self._on_step)
            except NoWarmJudge as error:
                self._on_step(f"{error} Judging with a new one.")
        with turn(self._folder, lambda: self._on_step(WAITS)):
            return _judge_cold(job, on_event)


def _private_folder(on_step: OnStep) -> PrivateFolder | None:
    """None, and the reason told, if there can't be one."""
    try:
        return PrivateFolder.open(default_folder())
    except NotOurs as error:
        on_step(f"No judge is kept warm: {error}")
    return None


def _judge_cold(job: JobSpec, on_event: OnEvent) -> RunResult:
    from kernelbot.server.judge_once import (
        judge_once,  # what it loads isn't needed beside a warm one
    )

    return judge_once(job, on_event)
