"""How each submission of `chaos.py` ended, and whether that is how it should have."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import psycopg
from psycopg.rows import class_row

from kernelbot.domain.states import MAX_ATTEMPTS, RunState
from kernelbot.protocol import Fault, Mode, Verdict
from kernelbot.runs.repeats import is_unranked_text


class Fate(StrEnum):
    """What became of a submission. All but `RIGHT` and `GAVE_UP` are mistakes of the platform."""

    RIGHT = "right"
    GAVE_UP = "gave up"
    """As promised: our fault, after every attempt was lost, or after the machine was too busy to
    measure on each time."""
    OURS = "failed early"
    """Our fault, though neither was every attempt lost nor the machine too busy."""
    OPEN = "not ended"
    """Though nobody has waited for it any longer."""
    LOST = "lost"
    DOUBLED = "doubled"
    BLAMED = "wrongly blamed"
    MISJUDGED = "misjudged"
    """A wrong submission with another verdict than expected."""


@dataclass(frozen=True)
class RunEnd:
    """A run as it is in the database."""

    submission_id: int
    run_id: int
    file_name: str
    mode: Mode
    device: str | None
    secret: bool
    state: RunState
    verdict: Verdict | None
    fault: Fault | None
    message: str | None
    created_at: datetime
    finished_at: datetime | None
    lost_attempts: int
    results: int
    """Attempts of it that finished."""
    ends: int
    """Events that say that it finished."""
    standings: int

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self.state in (RunState.FINISHED, RunState.CANCELLED)


_RUNS = """
SELECT s.id AS submission_id, r.id AS run_id, s.file_name, s.mode::text, r.device, r.secret,
    r.state::text, r.fault::text, r.verdict::text, r.message, r.created_at, r.finished_at,
    (SELECT count(*) FROM attempts a WHERE a.run_id = r.id AND a.state = 'lost') AS lost_attempts,
    (SELECT count(*) FROM attempts a WHERE a.run_id = r.id AND a.state = 'finished') AS results,
    (SELECT count(*) FROM events e WHERE e.run_id = r.id AND e.kind = 'finished') AS ends,
    (SELECT count(*) FROM standings t WHERE t.run_id = r.id) AS standings
FROM submissions s LEFT JOIN runs r ON r.submission_id = s.id ORDER BY s.id, r.id
"""


def read_ends(url: str) -> dict[int, list[RunEnd]]:
    """Every submission's runs, by its id. Raises `psycopg.OperationalError` if Postgres is away."""
    found: dict[int, list[RunEnd]] = {}
    with psycopg.connect(url, row_factory=class_row(RunEnd)) as connection:
        for run in connection.execute(_RUNS):
            found.setdefault(run.submission_id, []).append(run)
    return found


def fate(runs: Sequence[RunEnd], expected: Verdict) -> Fate:
    """The fate of one submission, whose verdict should be `expected`."""
    if not runs or any(run.state != RunState.FINISHED or run.ends == 0 for run in runs):
        return Fate.LOST
    if _lacks_secret_run(runs):
        return Fate.LOST
    if any(run.results > 1 or run.ends > 1 or run.standings > 1 for run in runs):
        return Fate.DOUBLED
    strange = {run.verdict for run in runs} - {expected, Verdict.INTERNAL_ERROR}
    if strange or any(run.fault != _whose(run.verdict) for run in runs):
        return Fate.BLAMED if expected == Verdict.ACCEPTED else Fate.MISJUDGED
    failed = [run for run in runs if run.verdict == Verdict.INTERNAL_ERROR]
    if not failed:
        return Fate.RIGHT
    in_vain = all(
        run.lost_attempts >= MAX_ATTEMPTS or is_unranked_text(run.message) for run in failed
    )
    return Fate.GAVE_UP if in_vain else Fate.OURS


def _lacks_secret_run(runs: Sequence[RunEnd]) -> bool:
    """Whether it is ranked and passed its tests on a device where it wasn't timed. Secret runs of
    what doesn't pass are deleted."""
    passed = {run.device for run in runs if not run.secret and run.verdict == Verdict.ACCEPTED}
    timed = {run.device for run in runs if run.secret}
    return runs[0].mode == Mode.LEADERBOARD and not passed <= timed


def fates(
    ends: dict[int, list[RunEnd]],
    expected: dict[str, Verdict],
    answered: Iterable[int],
    *,
    waited: bool = True,
) -> dict[int, Fate]:
    """The fates by submission: of those stored, and of those that the server said it has stored.
    `expected` is by file name; `waited`: whether all had the time to end."""
    found = {number: fate(runs, expected[runs[0].file_name]) for number, runs in ends.items()}
    if not waited:
        for number, runs in ends.items():
            if not all(run.has_ended for run in runs):
                found[number] = Fate.OPEN
    return found | {number: Fate.LOST for number in answered if number not in ends}


def counted(found: dict[int, Fate]) -> Counter[Fate]:
    """How many had each."""
    return Counter(found.values())


def _whose(verdict: Verdict | None) -> Fault | None:
    if verdict == Verdict.ACCEPTED:
        return None
    return Fault.PLATFORM if verdict == Verdict.INTERNAL_ERROR else Fault.AUTHOR
