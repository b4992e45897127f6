"""What `chaos.py` found, in tables and lines."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.chaos_ends import Fate, RunEnd, counted
from benchmarks.chaos_processes import Storm
from kernelbot.render.table import table


@dataclass(frozen=True)
class Outcome:
    """What one run of this program found."""

    storm: Storm
    ends: dict[int, list[RunEnd]]
    fates: dict[int, Fate]
    starts: int
    seconds: float
    trouble: str | None = None
    """Why it ended before everything else had, if it did."""


SHOWN = (Fate.OPEN, Fate.LOST, Fate.DOUBLED, Fate.BLAMED, Fate.MISJUDGED, Fate.GAVE_UP, Fate.OURS)
HEADERS = ("seed", "submissions", "runs", "killed", "stopped", *SHOWN, "starts", "seconds")


def row(seed: int, outcome: Outcome) -> list[str]:
    """A line of the table."""
    counts = counted(outcome.fates)
    hits = outcome.storm.hits
    figures = [
        len(outcome.fates),
        sum(len(runs) for runs in outcome.ends.values()),
        *(sum(n for (*_, how), n in hits.items() if how == what) for what in _HITS),
        *(counts[each] for each in SHOWN),
        outcome.starts,
        round(outcome.seconds),
    ]
    return [str(seed), *map(str, figures)]


def hits_table(outcomes: Sequence[Outcome]) -> str:
    """How often each kind was killed and stopped."""
    rows = [
        [
            where,
            kind,
            *(str(sum(o.storm.hits[where, kind, how] for o in outcomes)) for how in _HITS),
        ]
        for where, kind in sorted({hit[:2] for o in outcomes for hit in o.storm.hits})
    ]
    return table(("where", "process", *_HITS), rows, right=_HITS)


_HITS = ("killed", "stopped")


def tell(outcome: Outcome) -> None:
    """Print what is known of each submission that didn't end as it should."""
    for number, what in sorted(outcome.fates.items()):
        if what is Fate.RIGHT:
            continue
        print(f"\nsubmission {number}: {what}")
        for run in outcome.ends.get(number, []):
            print(
                f"  run {run.run_id} ({run.file_name}, {run.device}): {run.state}, {run.verdict}, "
                f"fault {run.fault}, {run.lost_attempts} lost, {run.results} results, "
                f"{run.ends} ends, {run.standings} standings, "
                f"{run.created_at:%H:%M:%S} to {run.finished_at}"
            )
            print(f"    {run.message}")


def progress(storm: Storm, sent: int, ends: dict[int, list[RunEnd]], seconds: float) -> str:
    """A line while it lasts."""
    hits = {how: sum(n for (*_, what), n in storm.hits.items() if what == how) for how in _HITS}
    ended = sum(all(run.has_ended for run in runs) for runs in ends.values())
    happened = ", ".join(f"{number} {how}" for how, number in hits.items())
    return f"{seconds:.0f} s: {sent} sent, {ended} ended; processes: {happened}"
