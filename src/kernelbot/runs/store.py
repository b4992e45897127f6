"""Attempts: what a worker reads and writes while a run is judged.

Every change names the state and the owner it expects. So of two workers, or of a change and its
repetition, one takes effect and the other finds out that it came too late.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from kernelbot.domain.states import RunState
from kernelbot.protocol import (
    EventKind,
    Fault,
    RunResult,
    SourceFile,
    Verdict,
    from_wire,
    to_wire,
)
from kernelbot.protocol.late import dataclass
from kernelbot.runs.job_terms import JobTerms
from kernelbot.runs.model import RunRef
from kernelbot.runs.queue.model import QueueRules
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, Row, Values, WriteSession
from kernelbot.store.jsontext import clean, dumps
from kernelbot.store.sqlfiles import statements

EventData = Mapping[str, str | float | None]
"""What an event says besides its kind."""
Step = tuple[EventKind, EventData]
"""What a judge tells at one moment."""


@dataclass(frozen=True)
class LockedRun(RunRef):
    """A run and all that its job specification is made of, locked until the transaction ends."""

    state: RunState
    secret: bool
    attempts: int
    file_name: str
    problem_version_id: int
    code: str
    board_secret: bytes
    fixed_seed: bool
    waited_s: float
    """How long ago it was queued first."""
    opponent: SourceFile | None
    """The other source, if it is a duel's run."""


@dataclass(frozen=True)
class OpenAttempt:
    """An attempt that was begun. `handle` None: it is unknown whether it was launched."""

    id: int
    number: int
    launcher: str
    handle: str | None
    takeovers: int = 0
    age_s: float = 0.0
    """How long ago it was begun."""
    terms: JobTerms | None = None
    """None: what its job is has to be decided."""


def _locked(row: Row | None) -> LockedRun | None:
    if row is None:
        return None
    name, code = row["opponent_file_name"], row["opponent_code"]
    opponent = None if code is None else SourceFile(name, code)
    return from_row(LockedRun, {**row, "opponent": opponent})


@dataclass(frozen=True)
class AvailableWork:
    """What there may be for a device: runs that wait, runs that were abandoned, and duels and what
    is known to be right that aren't in the queue yet."""

    queued: bool
    abandoned: bool
    duels: bool
    known_right: bool


async def work(session: ReadSession, device: str, *, stale_s: float) -> AvailableWork:
    """What there may be for the device, by one statement."""
    values = {"device": device, "stale_s": stale_s}
    row = await session.one(statements(__file__)["work"], values)
    assert row is not None
    return AvailableWork(**row)


async def abandoned_run(session: WriteSession, device: str, *, stale_s: float) -> LockedRun | None:
    """The first run, locked, whose worker sent no heartbeat for `stale_s`."""
    values = {"device": device, "stale_s": stale_s}
    row = await session.one(statements(__file__)["abandoned_run"], values)
    if row is None:
        return None
    return _locked(await session.one(statements(__file__)["claimable"], {"run_id": row["id"]}))


async def claim_next(
    session: WriteSession, device: str, rules: QueueRules, *, owner: str, stale_s: float
) -> LockedRun | None:
    """The queued run that this worker judges next, locked: one of a rejudge that is its own or
    whose worker sent no heartbeat for `stale_s`; else one of the author whose turn it is, whose
    turn is then used. None: no run may be judged now."""
    values = {
        "device": device,
        "running_limit": rules.running_limit,
        "ranked_first": rules.ranked_first,
        "owner": owner,
        "stale_s": stale_s,
    }
    return _locked(await session.one(statements(__file__)["claim_next"], values))


async def lock_run(session: WriteSession, run_id: int) -> LockedRun | None:
    """The run with all that its job is made of; nobody else can change it until the transaction
    ends."""
    if await lock_run_ref(session, run_id) is None:
        return None
    return _locked(await session.one(statements(__file__)["claimable"], {"run_id": run_id}))


async def lock_run_ref(session: WriteSession, run_id: int) -> RunRef | None:
    """Lock the run until the transaction ends; whatever changes it or its attempts calls this
    first."""
    row = await session.one(statements(__file__)["lock_run_ref"], {"run_id": run_id})
    return from_row(RunRef, row) if row else None


async def open_attempt(
    session: WriteSession, run: LockedRun, *, launcher: str, owner: str, terms: JobTerms
) -> OpenAttempt:
    """Begin the next attempt of a queued run that is locked, and tell its followers."""
    values = {
        "run_id": run.id,
        "launcher": launcher,
        "owner": owner,
        "terms": dumps(to_wire(terms)),
        "shared_seed": run.secret and run.fixed_seed,
    }
    row = await session.one(statements(__file__)["open"], values)
    assert row is not None
    return OpenAttempt(row["id"], run.attempts + 1, launcher, None, terms=terms)


@dataclass(frozen=True)
class SecretRun:
    """A secret run in the queue. `attempts`: how many it has had."""

    id: int
    attempts: int


async def waiting_secret_run(session: WriteSession, run_id: int) -> SecretRun | None:
    """The secret run of the same submission and device, locked; None if it doesn't wait for this
    one, or somebody else changes it just now."""
    row = await session.one(statements(__file__)["waiting_secret_run"], {"run_id": run_id})
    return None if row is None else SecretRun(**row)


async def take_over(
    session: WriteSession, run_id: int, *, owner: str, stale_s: float
) -> OpenAttempt | None:
    """Make the run's open attempt this owner's, if its owner sent no heartbeat for `stale_s`."""
    values = {"run_id": run_id, "owner": owner, "stale_s": stale_s}
    row = await session.one(statements(__file__)["take_over"], values)
    if row is None:
        return None
    return OpenAttempt(**{**row, "terms": read_terms(row["terms"])})


async def keep_terms(session: WriteSession, attempt_id: int, terms: JobTerms) -> None:
    """Store what the attempt's job was decided to be; it is there while the attempt is open."""
    values = {"attempt_id": attempt_id, "terms": dumps(to_wire(terms))}
    await session.do(statements(__file__)["keep_terms"], values)


def read_terms(stored: object) -> JobTerms | None:
    """None if there are none, or those of another release, which this one can't read."""
    try:
        return None if stored is None else from_wire(JobTerms, stored)
    except ValueError:  # `WireError`, `VersionMismatch`
        return None


async def launched(session: WriteSession, attempt_id: int, owner: str, handle: str) -> bool:
    """Store the attempt's handle; returns whether it is still the owner's."""
    values = {"attempt_id": attempt_id, "owner": owner, "handle": handle}
    return await session.do(statements(__file__)["launched"], values) == 1


async def lock_mine(session: WriteSession, run_id: int, attempt_id: int, owner: str) -> bool:
    """Lock the run as `lock_run_ref` does; whether its attempt is open and the owner's."""
    values = {"run_id": run_id, "attempt_id": attempt_id, "owner": owner}
    row = await session.one(statements(__file__)["lock_attempt"], values)
    return row is not None and bool(row["mine"])


async def still_mine(session: ReadSession, attempt_id: int, owner: str) -> bool:
    """Whether the attempt is open and the owner's."""
    values = {"attempt_id": attempt_id, "owner": owner}
    return await session.one(statements(__file__)["still_mine"], values) is not None


async def is_open(session: ReadSession, attempt_id: int) -> bool:
    """Whether the attempt is open, whoever's it is."""
    values = {"attempt_id": attempt_id}
    return await session.one(statements(__file__)["is_open"], values) is not None


async def add_progress(
    session: WriteSession, submission_id: int | None, run_id: int, progress: Sequence[Step]
) -> None:
    """Store a judge's progress, in this order. The run, which is locked, is running now at the
    latest. `submission_id` None: nobody follows it."""
    values = {"submission_id": submission_id, "run_id": run_id, **_columns(progress)}
    await session.one(statements(__file__)["add_progress"], values)


async def add_own_progress(
    session: WriteSession,
    submission_id: int | None,
    run_id: int,
    attempt_id: int,
    owner: str,
    progress: Sequence[Step],
) -> bool:
    """What `add_progress` does, of a run that isn't locked; False, and nothing is stored, if its
    attempt isn't open or the owner's. One statement, so it may be a transaction by itself."""
    values = {
        "submission_id": submission_id,
        "run_id": run_id,
        "attempt_id": attempt_id,
        "owner": owner,
        **_columns(progress),
    }
    row = await session.one(statements(__file__)["add_own_progress"], values)
    return row is not None and bool(row["mine"])


def _columns(progress: Sequence[Step]) -> dict[str, list[str]]:
    return {
        "kinds": [kind.value for kind, _ in progress],
        "data": [dumps(data) for _, data in progress],
    }


async def close(
    session: WriteSession,
    run: RunRef,
    attempt_id: int,
    owner: str,
    state: str,
    *,
    result: RunResult | None = None,
    failure: str | None = None,
    progress: Sequence[Step] | None = None,
) -> bool:
    """End the attempt of a run that is locked, and before that store the `progress` that its judge
    has told last (None: nothing). False, and nothing is stored, if it had ended, or was taken over,
    before."""
    values = {
        "attempt_id": attempt_id,
        "owner": owner,
        "state": state,
        "result": None if result is None else _slim(result),
        "failure": None if failure is None else clean(failure),
        "followed_id": run.followed_id,
        **_told_last(progress),
    }
    return await _did(session, "close", values)


def _slim(result: RunResult) -> str:
    """The result without what is stored beside it: samples, and the content of files."""
    phases = tuple(
        replace(phase, workloads=tuple(replace(load, samples_ns=()) for load in phase.workloads))
        for phase in result.phases
    )
    artifacts = tuple(replace(artifact, content_base64="") for artifact in result.artifacts)
    return dumps(to_wire(replace(result, phases=phases, artifacts=artifacts)))


def _told_last(progress: Sequence[Step] | None) -> dict[str, list[str] | None]:
    return {"kinds": None, "data": None} if progress is None else {**_columns(progress)}


async def _did(session: WriteSession, name: str, values: Values) -> bool:
    """Whether a statement says that it did what its name says: its one value."""
    row = await session.one(statements(__file__)[name], values)
    return row is not None and bool(*row.values())


@dataclass(frozen=True)
class RunEnding:
    """What is written of a run that ends with a verdict. `told`: what those who follow its
    submission are told."""

    verdict: Verdict
    fault: Fault | None
    message: str | None
    score_s: float | None = None
    ci95_s: tuple[float, float] | None = None
    unverified: bool = False
    told: EventData = field(default_factory=dict)

    def values(self, run_id: int, followed_id: int | None) -> dict[str, object]:
        """For the statements. `followed_id`: the submission that is followed; None: none is."""
        low, high = self.ci95_s or (None, None)
        return {
            "run_id": run_id,
            "verdict": self.verdict,
            "fault": self.fault,
            "message": None if self.message is None else clean(self.message),
            "score_s": self.score_s,
            "ci_low_s": low,
            "ci_high_s": high,
            "unverified": self.unverified,
            "followed_id": followed_id,
            "told": dumps(self.told),
        }


async def finish_attempt(
    session: WriteSession,
    run: RunRef,
    attempt_id: int,
    owner: str,
    result: RunResult,
    ending: RunEnding,
    *,
    progress: Sequence[Step] | None = None,
) -> bool:
    """Lock the run, end its attempt as `close` does and write its verdict as `finish_run` does. One
    statement, so it may be a transaction by itself. False as in `close`."""
    values = {
        **ending.values(run.id, run.followed_id),
        "attempt_id": attempt_id,
        "owner": owner,
        "result": _slim(result),
        **_told_last(progress),
    }
    return await _did(session, "finish_attempt", values)


async def finish_run(
    session: WriteSession, run_id: int, ending: RunEnding, *, followed_id: int | None = None
) -> bool:
    """Write the verdict, and tell it to those who follow the submission `followed_id` (None:
    nobody); False, and nobody is told, if the run had ended before."""
    return await _did(session, "finish_run", ending.values(run_id, followed_id))


async def finish_unseen(session: WriteSession, run_id: int, result: RunResult) -> Fault | None:
    """Write the verdict of a run that is on no submission's page, without why it wasn't accepted;
    returns whose fault that was, None if it was accepted."""
    failed = result.failure.fault if result.failure else Fault.PLATFORM
    fault = None if result.verdict is Verdict.ACCEPTED else failed
    await finish_run(session, run_id, RunEnding(result.verdict, fault, message=None))
    return fault


async def requeue_run(session: WriteSession, run_id: int, delay_s: float) -> bool:
    """Put the run back into the queue, to be judged no earlier than after the delay; False if it
    had ended."""
    values = {"run_id": run_id, "delay_s": delay_s}
    return await session.one(statements(__file__)["requeue_run"], values) is not None


async def repeat_run(session: WriteSession, run_id: int) -> bool:
    """Put a run that was measured back into the queue, to be measured again before all others;
    False if it had ended."""
    return await session.do(statements(__file__)["repeat_run"], {"run_id": run_id}) == 1


async def losses(session: ReadSession, run_id: int) -> int:
    """How many of the run's attempts were lost to the infrastructure."""
    row = await session.one(statements(__file__)["losses"], {"run_id": run_id})
    return int(row["losses"]) if row else 0
