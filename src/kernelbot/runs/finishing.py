"""What a result means for its run: its verdict with all that depends on it, in one transaction."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kernelbot.boards import store as boards
from kernelbot.duels import dueling
from kernelbot.moderation.known_right import service as known_right
from kernelbot.moderation.reviews.model import CheckedScore, Evidence, ReviewRules
from kernelbot.moderation.reviews.service import (
    hold_if_absurd,
    hold_if_suspicious,
    keep_findings,
    lock_to_hold,
)
from kernelbot.moderation.triage import Triage
from kernelbot.protocol import Fault, HarnessKind, JobSpec, Mode, RunResult, Verdict
from kernelbot.runs import ending
from kernelbot.runs import store as attempts
from kernelbot.runs.model import RunRef
from kernelbot.runs.repeats import MAX_REPEATS, REPEATED, why_again
from kernelbot.runs.samples import store as samples
from kernelbot.runs.store import RunEnding, Step
from kernelbot.runs.tries import as_it_counts
from kernelbot.store.database import Database, WriteSession
from kernelbot.submissions import store as submissions
from kernelbot.submissions.same_code import code_digest

Then = Callable[[WriteSession], Awaitable[None]]


@dataclass(frozen=True)
class Judged:
    """A result with whose it is. `run`: as it was when the attempt was claimed; nothing of it
    changes while that is open. `told`: what the judge has told last, None: nothing."""

    run: RunRef
    attempt_id: int
    owner: str
    spec: JobSpec
    result: RunResult
    told: list[Step] | None

    @property
    def is_ranked(self) -> bool:
        """Whether it is a submission's score that may be ranked."""
        is_its = self.spec.secret and self.run.followed_id is not None
        return is_its and self.result.verdict == Verdict.ACCEPTED

    @property
    def recurring(self) -> str:
        """What the judge says of data that it has seen again; empty: it may, or hasn't."""
        return "" if self.spec.problem.recurring_data else self.result.recurring_data

    def counts(self) -> RunResult:
        """The result, as far as it counts."""
        not_offered = self.run.is_not_offered
        return as_it_counts(
            self.result, self.spec.device, not_offered=not_offered, ranked=self.is_ranked
        )


class Finishing:
    """Writes verdicts. `triage`: what ranked submissions are shown to; None: nothing."""

    def __init__(self, database: Database, rules: ReviewRules, triage: Triage | None) -> None:
        self._database = database
        self._rules = rules
        self._triage = triage

    async def finish(self, judged: Judged, then: Then | None = None) -> bool:
        """Write it, and do what comes `then` in the same transaction, if a submission's run was
        accepted. False if the attempt had ended before: nothing is written twice."""
        if _is_verdict_alone(judged):
            async with self._database.autocommit() as session:
                return await _write_verdict(session, judged, judged.counts())
        # Only now: while the run was measured, this would have disturbed the times.
        found = await self._noticed(judged) if judged.is_ranked else ()
        source, lang = judged.spec.submission.text, judged.spec.problem.lang
        # In a thread: a large source takes a second.
        code = await asyncio.to_thread(code_digest, source, lang) if judged.is_ranked else None
        async with self._database.write() as session:
            if judged.run.followed_id is None:
                return await self._finish_unfollowed(session, judged)
            if why := _why_again(judged):
                return await _repeat(session, judged, why)
            result = judged.counts()
            if not await _write_verdict(session, judged, result):
                return False
            await _note_recurring(session, judged)
            await samples.add_measurements(session, judged.run.id, result)
            if code is not None and result.verdict == Verdict.ACCEPTED:
                await submissions.know_code(session, judged.run.followed_id, code)
            await ending.lock(session, judged.run)
            await keep_findings(session, judged.run.followed_id, found, self._rules)
            await self._conclude(session, judged.run, judged.spec, result)
            if then is not None and result.verdict == Verdict.ACCEPTED:
                await then(session)
        return True

    async def _noticed(self, judged: Judged) -> tuple[Evidence, ...]:
        text = judged.spec.submission.text
        return () if self._triage is None else await self._triage.examine(text)

    async def _finish_unfollowed(self, session: WriteSession, judged: Judged) -> bool:
        """Finish a duel's run, or that of what is known to be right."""
        run = await attempts.lock_run_ref(session, judged.run.id)
        if run is None:
            return False
        if await dueling.needs_another(session, run, judged.result):
            return await _repeat(session, judged, REPEATED)
        result = judged.counts()
        if not await attempts.close(
            session,
            run,
            judged.attempt_id,
            judged.owner,
            "finished",
            result=result,
            progress=judged.told,
        ):
            return False
        if run.duel_id is not None:
            await _note_recurring(session, judged)
            await dueling.finish(session, run, run.duel_id, result)
        else:
            await known_right.finish(session, run, result, self._rules)
        return True

    async def _conclude(
        self, session: WriteSession, run: RunRef, spec: JobSpec, result: RunResult
    ) -> None:
        """Hold what a person should look at, and bring up to date what depends on the run."""
        accepted, scored = result.verdict == Verdict.ACCEPTED, None
        assert run.submission_id is not None, "it is followed"
        if result.score_s is not None and accepted and spec.secret:
            scored = CheckedScore(
                run.submission_id, run.leaderboard_id, run.device, run.author_id, result.score_s
            )
        if scored is not None and run.rejudge_id is None:
            await self._compare(session, run)
            await hold_if_absurd(session, scored, self._rules)
        if accepted and run.mode == Mode.LEADERBOARD:
            await hold_if_suspicious(session, run.submission_id, result.suspicions)
        if scored is None or run.rejudge_id is None:
            await ending.conclude(session, run)
        else:
            # Beside the others' new scores; but the end of a rejudge locks the ranking.
            await lock_to_hold(session, run.leaderboard_id, run.device, [run.submission_id])
            await ending.conclude(session, run)
            await hold_if_absurd(session, scored, self._rules)

    async def _compare(self, session: WriteSession, run: RunRef) -> None:
        """There is a score to compare, so there must be something to compare it with."""
        if self._rules.known_right and self._rules.hold_speedup is not None:
            await known_right.request(session, run.leaderboard_id, run.device)


def _is_verdict_alone(judged: Judged) -> bool:
    """Whether the verdict is all that is written: of a test that left nothing."""
    run, result = judged.run, judged.result
    is_followed = run.followed_id is not None and run.mode != Mode.LEADERBOARD
    left = result.artifacts or any(phase.workloads for phase in result.phases)
    return is_followed and not left and not judged.recurring


async def _write_verdict(session: WriteSession, judged: Judged, result: RunResult) -> bool:
    """Write the verdict of a submission's run, which locks the run. False if its attempt had ended
    before."""
    failure, accepted = result.failure, result.verdict == Verdict.ACCEPTED
    fault = None if accepted else (failure.fault if failure else Fault.PLATFORM)
    message = None if accepted or failure is None else failure.message
    data = {"verdict": result.verdict, "fault": fault, "score_s": result.score_s}
    written = RunEnding(
        result.verdict,
        fault,
        message,
        score_s=result.score_s if accepted else None,
        ci95_s=result.score_ci95_s if accepted and result.score_s else None,
        unverified=result.harness == HarnessKind.SCRIPT,
        told=data | {"message": message},
    )
    return await attempts.finish_attempt(
        session,
        judged.run,
        judged.attempt_id,
        judged.owner,
        result,
        written,
        progress=judged.told,
    )


async def _repeat(session: WriteSession, judged: Judged, why: str) -> bool:
    run = await attempts.lock_run_ref(session, judged.run.id)
    return run is not None and await ending.repeat(
        session, run, judged.attempt_id, judged.owner, judged.result, why, progress=judged.told
    )


async def _note_recurring(session: WriteSession, judged: Judged) -> None:
    """Keep that the judge saw the same data again, unless the problem allows it."""
    if judged.recurring and judged.run.submission_id is not None:
        await boards.note_recurring_data(session, judged.run.id, judged.recurring)


def _why_again(judged: Judged) -> str:
    """Why a run that was accepted is measured again instead of ranked; empty: it isn't."""
    if not judged.is_ranked or judged.run.repeats >= MAX_REPEATS:
        return ""
    return why_again(judged.result, judged.spec.sampling)
