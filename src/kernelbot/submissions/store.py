"""Submissions and their runs, as people see them."""

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from kernelbot.domain.states import RunState, SubmissionState
from kernelbot.duels.model import Ratio
from kernelbot.protocol import EventKind, Mode, RunResult
from kernelbot.ranking.model import NotRanked, NotRankedReason, ScoreInterval
from kernelbot.runs.files import RunFile
from kernelbot.runs.model import Run
from kernelbot.runs.queue.model import QueueRules
from kernelbot.runs.queue.store import WaitingRun, asked, read_line
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, Row, WriteSession
from kernelbot.store.jsontext import dumps
from kernelbot.store.results import read_result
from kernelbot.store.samples import unpack
from kernelbot.store.sqlfiles import statements
from kernelbot.submissions.model import BareSubmission, BestSubmission, SubmissionEvent

_EVENTS_AT_ONCE = 1000


@dataclass(frozen=True)
class FoundSubmission:
    """A submission as a page finds it. `hash`: as `listed_submissions` says."""

    id: int
    hash: int
    bests: tuple[BestSubmission, ...]


async def same_code(session: ReadSession, submission_id: int) -> int | None:
    """The submission whose code is that of this one, so that this one can't be ranked."""
    row = await session.one(statements(__file__)["same_code"], {"submission_id": submission_id})
    return None if row is None else row["other_id"]


async def know_code(session: WriteSession, submission_id: int, code_sha256: bytes) -> None:
    """Say what its code is, whatever its layout and comments (`submissions.same_code`)."""
    values = {"submission_id": submission_id, "code_sha256": code_sha256}
    await session.do(statements(__file__)["know_code"], values)


async def add_event(
    session: WriteSession,
    submission_id: int,
    run_id: int | None,
    kind: EventKind | RunState,
    data: Mapping[str, Any],
) -> None:
    """Append to the submission's events and wake its followers at commit."""
    await session.one(
        statements(__file__)["add_event"],
        {"submission_id": submission_id, "run_id": run_id, "kind": kind, "data": dumps(data)},
    )


async def tell_that_it_waits(session: WriteSession, run_id: int) -> None:
    """If a ranked submission's public run has passed, tell its followers that the one on secret
    data waits."""
    await session.all(statements(__file__)["tell_that_it_waits"], {"run_id": run_id})


async def one(session: ReadSession, submission_id: int) -> BareSubmission | None:
    """The submission without its code."""
    row = await session.one(statements(__file__)["one"], {"submission_id": submission_id})
    return from_row(BareSubmission, row) if row else None


@dataclass(frozen=True)
class SubmissionEntry:
    """A submission without its code, its runs without results, and where it is its author's best.
    `hash`: as `FoundSubmission`, of this moment; 0 in a snapshot."""

    submission: BareSubmission
    hash: int
    runs: tuple[Run, ...]
    bests: tuple[BestSubmission, ...]


@dataclass(frozen=True)
class Snapshot(SubmissionEntry):
    """All that can change. `preflights`: ids of its reports, each with that of the version before,
    or None; `line`: as `queue.waiting` returns it; `stamp`: that of `Look` if it was asked for."""

    preflights: tuple[tuple[int, int | None], ...]
    line: WaitingRun | None
    stamp: int | None


async def snapshot(
    session: ReadSession,
    submission_id: int,
    rules: QueueRules,
    *,
    fresh_s: float,
    stamped: bool = False,
) -> Snapshot | None:
    """The submission as it is now, by one statement."""
    values = {"submission_id": submission_id, "stamped": stamped, **asked(rules, fresh_s)}
    rows = await session.all(statements(__file__)["snapshot"], values)
    if not rows:
        return None
    (preflights, stamp), *_ = [(row.pop("preflights"), row.pop("stamp")) for row in rows]
    lines = [row.pop("line") for row in rows]
    line = next((read_line(one) for one in lines if one is not None), None)
    ids = tuple((number, before) for number, before in preflights)
    return Snapshot(**vars(_entry(rows)), preflights=ids, line=line, stamp=stamp)


async def code(session: ReadSession, submission_id: int) -> str | None:
    """The submission's code; None where there is no such submission."""
    row = await session.one(statements(__file__)["code"], {"submission_id": submission_id})
    return row["code"] if row else None


async def of_author(
    session: ReadSession,
    author_id: int,
    *,
    board: str | None,
    limit: int,
    before_id: int | None,
    offset: int,
    device: str | None = None,
) -> list[FoundSubmission]:
    """An author's, newest first. `device`: only those with a run on it; then `board` is given."""
    values = {
        "author_id": author_id,
        "board": board,
        "limit": limit,
        "before_id": before_id,
        "offset": offset,
        "device": device,
    }
    name = "of_author" if board is None else "of_author_on_board"
    name = name if device is None else "of_author_on_device"
    return [_listed(row) for row in await session.all(statements(__file__)[name], values)]


async def of_board(
    session: ReadSession, leaderboard_id: int | None, *, limit: int, before_id: int | None
) -> list[FoundSubmission]:
    """Everybody's on a board, None: on all of them; newest first."""
    values = {"leaderboard_id": leaderboard_id, "limit": limit, "before_id": before_id}
    sql = statements(__file__)["of_all" if leaderboard_id is None else "of_board"]
    return [_listed(row) for row in await session.all(sql, values)]


@dataclass(frozen=True)
class SubmissionFilter:
    """Which submissions are asked for; None: any."""

    leaderboard_id: int | None
    author_id: int | None
    state: SubmissionState | None
    device: str | None
    """In upper or lower case."""


async def wanted(
    session: ReadSession, wanted: SubmissionFilter, *, limit: int, before_id: int | None
) -> list[FoundSubmission]:
    """Everybody's submissions that are asked for, newest first. It reads as many as it must to fill
    the page, but those in rare states are found at once."""
    values = {**asdict(wanted), "limit": limit, "before_id": before_id}
    is_rare = wanted.state not in (None, SubmissionState.FINISHED)
    sql = statements(__file__)["wanted_rare" if is_rare else "wanted"]
    return [_listed(row) for row in await session.all(sql, values)]


async def on_board(
    session: ReadSession, leaderboard_id: int, *, limit: int, offset: int
) -> list[int]:
    """Ids of everybody's on a board, newest first."""
    values = {"leaderboard_id": leaderboard_id, "limit": limit, "offset": offset}
    return [row["id"] for row in await session.all(statements(__file__)["on_board"], values)]


async def entries(session: ReadSession, submission_ids: list[int]) -> list[SubmissionEntry]:
    """The entries of the submissions that are there, by one statement, the newest first."""
    sql = statements(__file__)["entries"]
    rows = await session.all(sql, {"submission_ids": submission_ids})
    return [_entry(list(of_one)) for _, of_one in groupby(rows, itemgetter("id"))]


async def rejudged_runs(session: ReadSession, row: BareSubmission) -> list[Run]:
    """The runs by which rejudges measured the submission again, without results; oldest first."""
    found = await session.all(statements(__file__)["rejudged_runs"], {"submission_id": row.id})
    return [_run(run, row.mode) for run in found]


async def results(
    session: ReadSession, submission_id: int, *, files: bool = False
) -> dict[int, RunResult]:
    """The results of the submission's finished runs, by run, with every sample and text;
    other artifacts are empty unless `files`, since they may be large."""
    values = {"submission_id": submission_id, "files": files}
    rows = await session.all(statements(__file__)["results"], values)
    return {row["run_id"]: _result(row) for row in rows}


async def files(session: ReadSession, submission_id: int, *, secret: bool) -> list[RunFile]:
    """The artifacts of the submission's runs, by device, run and name."""
    values = {"submission_id": submission_id, "secret": secret}
    return [RunFile(**row) for row in await session.all(statements(__file__)["files"], values)]


async def file(
    session: ReadSession, submission_id: int, run_id: int, name: str, *, secret: bool
) -> tuple[RunFile, bytes] | None:
    """One artifact with its content; None where there is none of that name."""
    values = {"submission_id": submission_id, "secret": secret, "run_id": run_id, "name": name}
    row = await session.one(statements(__file__)["file"], values)
    if row is None:
        return None
    content = row["content"]
    return RunFile(**{key: row[key] for key in row if key != "content"}), bytes(content)


async def cancel_runs(session: WriteSession, submission_id: int) -> bool:
    """Cancel what hasn't ended, with its attempts and events; whether there was any. The
    standings are to be refreshed."""
    sql = statements(__file__)
    rows = await session.all(sql["cancel_runs"], {"submission_id": submission_id})
    await session.do(sql["cancel_attempts"], {"run_ids": [row["id"] for row in rows]})
    for row in rows:
        await add_event(session, submission_id, row["id"], RunState.CANCELLED, {})
        await session.one(sql["notify_cancelled"], {"run_id": row["id"]})
    return bool(rows)


async def refresh_standings(session: WriteSession, submission_id: int) -> None:
    """Bring its author's standings in line, on every device that it, or the same code sent later,
    ran on."""
    sql = statements(__file__)["refresh_standings"]
    await session.all(sql, {"submission_id": submission_id})


@dataclass(frozen=True)
class Happened:
    """A submission's events after an id, in their order, as of one moment."""

    events: list[SubmissionEvent]
    is_all: bool
    """Whether there were no others at that moment."""
    is_over: bool
    """Whether there will be no others either: every run has ended."""


async def events(session: ReadSession, submission_id: int, after: int) -> Happened | None:
    """The next events after an id, at most a thousand; None: the submission was deleted."""
    values = {"submission_id": submission_id, "after": after, "limit": _EVENTS_AT_ONCE}
    rows = await session.all(statements(__file__)["events"], values)
    ended: bool | None = rows[0]["ended"]
    if ended is None:
        return None
    found = [_event(row) for row in rows if row["id"] is not None]
    is_all = len(found) < _EVENTS_AT_ONCE
    return Happened(found, is_all, is_all and ended)


def _listed(row: Row) -> FoundSubmission:
    number, devices, versions = row["id"], row["best_devices"], row["best_versions"]
    bests = zip(devices, versions, strict=True) if devices else ()
    owner = row["board_id"], row["author_id"]
    return FoundSubmission(
        number, row["hash"], tuple(_best(number, *owner, *best) for best in bests)
    )


def _entry(rows: list[Row]) -> SubmissionEntry:
    """The entry that a submission's rows, one for each of its runs, make."""
    found = from_row(BareSubmission, rows[0])
    versions = [(row["device"], row["best_of_version"]) for row in rows]
    owner = found.board_id, found.author_id
    bests = tuple(_best(found.id, *owner, *at) for at in versions if at[1] is not None)
    runs = tuple(
        _run(
            {
                **row,
                "id": row["run_id"],
                "created_at": row["run_created_at"],
                "submission_id": found.id,
            },
            found.mode,
        )
        for row in rows
    )
    return SubmissionEntry(found, rows[0].get("hash", 0), runs, bests)


def _best(
    submission_id: int, board_id: int, author_id: int, device: str, version: int
) -> BestSubmission:
    return BestSubmission(submission_id, board_id, device, author_id, version)


def _run(row: Row, mode: Mode) -> Run:
    more = {"not_ranked": _not_ranked(row), "interval": _interval(row)}
    return from_row(Run, {**row, "mode": mode, "result": None, **more})


def _interval(row: Row) -> ScoreInterval | None:
    if row["ci_low_s"] is None:
        return None
    own = row["own_low_s"], row["own_high_s"]
    shown = row["ci_low_s"], row["ci_high_s"]
    return ScoreInterval(shown, own, row["scatter"], row["scatter_pairs"])


def _not_ranked(row: Row) -> NotRanked | None:
    reason = row.get("not_ranked")
    if reason is None:
        return None
    duels = (NotRankedReason.DUEL_UNDECIDED, NotRankedReason.DUEL_LOST)
    known = Ratio(row["ratio"], row["ratio_low"], row["ratio_high"]) if reason in duels else None
    return NotRanked.because(NotRankedReason(reason), row["not_ranked_for"], known)


def _result(row: Row) -> RunResult:
    result = read_result(row["result"])
    places = zip(row["phases"], row["workloads"], strict=True)
    samples = dict(zip(places, row["samples_zlib"], strict=True))
    contents = dict(zip(row["names"], row["contents"], strict=True))
    phases = tuple(
        replace(
            phase,
            workloads=tuple(
                replace(load, samples_ns=_unpacked(samples.get((phase.phase, index))))
                for index, load in enumerate(phase.workloads)
            ),
        )
        for phase in result.phases
    )
    artifacts = tuple(
        replace(item, content_base64=base64.b64encode(contents.get(item.name, b"")).decode())
        for item in result.artifacts
    )
    return replace(result, phases=phases, artifacts=artifacts)


def _unpacked(samples_zlib: bytes | None) -> tuple[float, ...]:
    return () if samples_zlib is None else unpack(samples_zlib)


def _event(row: Row) -> SubmissionEvent:
    # Explicitly, because `finished` is a word of both enums: here the run's state.
    states = {state.value for state in RunState}
    kind = RunState(row["kind"]) if row["kind"] in states else EventKind(row["kind"])
    return from_row(SubmissionEvent, {**row, "kind": kind})
