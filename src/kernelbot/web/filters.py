"""What templates say of values: times, scores, names from elsewhere."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from kernelbot.boards.rules import has_ended
from kernelbot.protocol import Mode, Verdict
from kernelbot.render.intervals import of_all_judgings, seconds_interval
from kernelbot.render.limits import limit_text, reached_text
from kernelbot.render.progress import STATES
from kernelbot.render.report import busy_hint, threads_hint
from kernelbot.render.text import one_line, printable, shorten
from kernelbot.render.time_left import ends_soon, time_left
from kernelbot.render.units import interval_text, percent_text, seconds_text, size_text, time_text
from kernelbot.render.verdicts import FAULTS, mark

_MODES = {Mode.LEADERBOARD: "ranked"}


def moment(at: datetime) -> Markup:
    """A time, in UTC; the script shows it in the visitor's own zone."""
    utc = at.astimezone(UTC)
    return Markup('<time datetime="{}">{} UTC</time>').format(_stamp(utc), f"{utc:%d %b %Y, %H:%M}")


def countdown(until: datetime) -> Markup:
    """How long that is from now; the script counts it down."""
    return Markup('<strong data-until="{}">{}</strong>').format(
        _stamp(until.astimezone(UTC)), remaining(until)
    )


def _stamp(utc: datetime) -> str:
    return utc.isoformat(timespec="seconds").replace("+00:00", "Z")


def remaining(until: datetime) -> str:
    """`3 days left`, in the largest unit that fits twice, else the next smaller one."""
    left = time_left(until, datetime.now(UTC))
    return f"{left} left" if left else "ended"


def is_over(deadline: datetime | None) -> bool:
    """Whether a deadline has passed; None never does."""
    return has_ended(deadline, datetime.now(UTC))


def name(text: str) -> Markup:
    """One line from elsewhere: control characters and marks that turn the direction of writing are
    written out, and what is around it keeps its own direction. A line that is too short for it
    ends after an underscore."""
    return Markup("<bdi>{}</bdi>").format(Markup("_<wbr>").join(one_line(text).split("_")))


def mode_name(mode: Mode) -> str:
    """`ranked` for the ranking."""
    return _MODES.get(mode, str(mode))


FILTERS: dict[str, Callable[..., Any]] = {
    "bytes": size_text,
    "countdown": countdown,
    "fault": FAULTS.__getitem__,
    "interval_ns": lambda pair: interval_text(*pair),
    "interval_s": seconds_interval,
    "limit": limit_text,
    "mark": mark,
    "mode": mode_name,
    "moment": moment,
    "name": name,
    "ns": time_text,
    "of_all_judgings": of_all_judgings,
    "one_line": one_line,
    "pair": lambda value, key: (key, value),
    "percent": percent_text,
    "printable": printable,
    "remaining": remaining,
    "seconds": seconds_text,
    "reached": reached_text,
    "shortened": lambda text, limit=20_000: printable(shorten(text, limit)),
    "state": STATES.__getitem__,
    "busy_hint": busy_hint,
    "threads_hint": threads_hint,
    "verdict": lambda verdict: Verdict(verdict).words,
}
TESTS: dict[str, Callable[..., bool]] = {
    "over": is_over,
    "ending_soon": lambda until: ends_soon(until, datetime.now(UTC)),
}
