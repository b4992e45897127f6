"""One try to solve a task: attempts, each answered by a report, and what they are worth."""

import asyncio
import logging
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from kernelbot.domain.errors import Conflict, InvalidProblem, InvalidSubmission
from kernelbot.environment.diffs import patched
from kernelbot.environment.held_out import HeldOutSecret
from kernelbot.environment.messages import Action, Observation, ResetRequest, SourceKind, State
from kernelbot.environment.settings import EpisodeRules, HeldOut
from kernelbot.environment.steps import (
    EpisodeProgress,
    EpisodeStep,
    HeldOutResult,
    JudgedAttempt,
    after,
    payment,
    unconfirmed,
)
from kernelbot.environment.tasks import Task, TaskSet
from kernelbot.environment.views import judged_text, report_data, task_summary, task_text
from kernelbot.library.data import OtherData
from kernelbot.library.judge import Judge
from kernelbot.library.reports import Report
from kernelbot.protocol import Verdict
from kernelbot.render.text import encodable

_SEED_BITS = 31
_KEPT_OF_REFUSED = 1 << 16
"""Characters of an action that no source can be made of; it may be no text in UTF-8."""
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Grounds:
    """What all episodes of a server share. `secret` decides the data that are held out."""

    judge: Judge
    rules: EpisodeRules
    is_recorded: bool = False
    """Whether episodes keep their steps."""
    secret: HeldOutSecret = field(default_factory=HeldOutSecret)


class Episode:
    """An episode judges one action at a time."""

    def __init__(self, grounds: Grounds, task: Task, seed: int, episode_id: str) -> None:
        self.id = episode_id
        self.task = task
        self.seed = seed
        self.began_at = datetime.now(UTC)
        self.held_out: HeldOutResult | None = None
        """Once it is over, if something was held out."""
        self.steps: list[EpisodeStep] = []
        """Empty unless it is recorded: reports are large."""
        self._grounds = grounds
        self._rules = grounds.rules
        self._progress = EpisodeProgress()
        self._last_source = ""
        self._is_judging = False

    @classmethod
    def begin(cls, grounds: Grounds, tasks: TaskSet, asked: ResetRequest) -> "Episode":
        """Raises `NotFound` and `UserError` if there is no such task."""
        seed = secrets.randbits(_SEED_BITS) if asked.seed is None else asked.seed
        if asked.task is not None:
            task = tasks.named(asked.task)
        elif asked.index is not None:
            task = tasks.at(asked.split or tasks.splits[0], asked.index)
        else:
            task = tasks.drawn(asked.split, seed)
        return cls(grounds, task, seed, asked.episode_id or secrets.token_hex(16))

    @property
    def is_done(self) -> bool:
        return self._progress.is_done

    @property
    def unconfirmed(self) -> float:
        """What it was paid that nothing has confirmed: to be taken back if it never ends, or has
        ended so."""
        return unconfirmed(self._rules, self._progress, self.held_out)

    def first(self) -> Observation:
        """The task."""
        return self._observed(task_text(self.task, self._rules))

    def state(self) -> State:
        return State(
            episode_id=self.id,
            step_count=self._progress.used + self._progress.lost,
            task=task_summary(self.task),
            seed=self.seed,
            attempts_left=self._attempts_left,
            best=self._progress.best,
            unconfirmed=self.unconfirmed,
            done=self.is_done,
        )

    async def attempt(self, action: Action) -> Observation:
        """Judge an action. Cancelled, it has changed nothing. Raises `Conflict` if the episode is
        over or judges another action, and what the judge raises of the problem itself."""
        with self._judging():
            began_at, start = datetime.now(UTC), time.monotonic()
            judged = await self._judged(action)
            before, progress = self._progress, after(self._progress, judged, action, self._rules)
            held_out = await self._on_held_out(progress)
        self._progress, self.held_out = progress, held_out
        if not judged.refusal:
            self._last_source = judged.source
        reward = payment(self._rules.payment, judged, before, progress, held_out)
        self._progress = replace(progress, paid=progress.paid + (reward or 0.0))
        if self._grounds.is_recorded:
            duration_s = time.monotonic() - start
            self.steps.append(
                EpisodeStep(judged, action.kind, reward, self.is_done, began_at, duration_s)
            )
        return self._observed(judged_text(judged, progress, self._rules), judged, reward)

    @contextmanager
    def _judging(self) -> Iterator[None]:
        if self.is_done:
            raise Conflict("This episode is over.", hint="Reset, to begin another one.")
        if self._is_judging:
            raise Conflict("This episode is judging another action.", hint="Wait for its answer.")
        self._is_judging = True
        try:
            yield
        finally:
            self._is_judging = False

    async def _judged(self, action: Action) -> JudgedAttempt:
        source = action.source
        try:
            if action.kind is SourceKind.DIFF:
                source = await asyncio.to_thread(patched, self._last_source, action.source)
            report = await self._report(source)
        except InvalidSubmission as error:
            begin = encodable(action.source[:_KEPT_OF_REFUSED])
            return JudgedAttempt(begin, refusal=f"{error} {error.hint}".rstrip(), reward=0.0)
        return JudgedAttempt(source, report=report, reward=report.reward(self._rules.reward))

    async def _report(self, source: str) -> Report:
        rules = self._rules
        return await self._grounds.judge.judge(
            self.task.shown,
            source,
            mode=rules.mode,
            device=rules.device,
            baseline=rules.is_timed,
            data=OtherData(self.seed),
        )

    async def _on_held_out(self, progress: EpisodeProgress) -> HeldOutResult | None:
        """The best source on what is held out; None unless the episode is over with one that has
        a reward. A problem that is wrong there can't be judged; what is wrong may tell what is held
        out, so that the log alone has it."""
        rules, best = self._rules, progress.best
        if not progress.is_done or rules.held_out is HeldOut.NOTHING:
            return None
        if best is None or best.reward <= 0:
            return None
        secret_seed = self._grounds.secret.data_seed(self.task.id, self.seed)
        try:
            report = await self._grounds.judge.judge(
                self.task.whole,
                progress.best_source,
                mode=rules.last_mode,
                device=rules.device,
                baseline=rules.is_timed,
                data=OtherData(secret_seed, secret=True),
            )
        except InvalidProblem as error:
            log.error("What is held out of the task %r can't be judged: %s", self.task.id, error)
            return HeldOutResult(verdict=Verdict.INTERNAL_ERROR, reward=None, score_s=None)
        reward = report.reward(rules.reward)
        return HeldOutResult(verdict=report.verdict, reward=reward, score_s=report.score_s)

    @property
    def _attempts_left(self) -> int:
        return 0 if self.is_done else self._rules.attempts - self._progress.used

    def _observed(
        self, text: str, judged: JudgedAttempt | None = None, reward: float | None = None
    ) -> Observation:
        report = judged.report if judged else None
        return Observation(
            text=text,
            task=task_summary(self.task),
            attempt=self._progress.used,
            attempts_left=self._attempts_left,
            refusal=judged.refusal if judged else "",
            report=report_data(report) if report else None,
            best=self._progress.best,
            held_out=self.held_out,
            done=self.is_done,
            reward=reward,
            metadata={"episode_id": self.id, "seed": self.seed},
        )
