"""The counters' part of a profile: calls in a row in the runner, counted from outside."""

import contextlib
import json
from collections.abc import Mapping

from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.judge.calls.rank import RankRunner
from kernelbot.harness.judge.profiling.counters import EVENTS, Counters, EventCount
from kernelbot.harness.judge.profiling.findings import File, ProfilerFindings, columns
from kernelbot.harness.words import runner_messages as messages
from kernelbot.harness.words.failures import expect_reply, garbage

_FAILED = "The submission failed"
_TITLE = "Counters, per call"
_MOST_CALLS = 10**9
_OF = {
    "instructions": ("cycles", "per cycle"),
    "branch-misses": ("branches", "% of branches"),
    "cache-misses": ("cache-references", "% of references"),
}
"""The figure that another one is divided by, and the unit of the quotient."""


class CountingProfiler:
    """Counts calls on the same data, with warm caches, in a runner."""

    def __init__(self, rank: RankRunner) -> None:
        self._rank = rank

    def profile(self, data: Encoded) -> ProfilerFindings:
        """A table, and the figures as JSON."""
        rank = self._rank
        with contextlib.closing(SharedBuffer.create(data.size_bytes)) as given:
            data.copy_to(given)
            rank.send(messages.Repeat(data.skeleton), [given.fd])
            expect_reply(rank.receive(), messages.IsReady, _FAILED)
        with contextlib.closing(Counters(rank.clocks.tree_pids())) as counters:
            counters.start()
            rank.send(messages.Go())
            reply = expect_reply(rank.receive(), messages.Repeated, _FAILED)
            counters.stop()
            counts = counters.read()
        calls = reply.calls
        if not 1 <= calls <= _MOST_CALLS:
            raise garbage(reply)
        per_call = {name: EventCount(c.value / calls, c.share) for name, c in counts.items()}
        text = table(per_call, counters.missing, calls, user_only=counters.user_only)
        return ProfilerFindings(_TITLE, text, (_as_json(per_call, calls),) if per_call else ())


def table(
    counts: Mapping[str, EventCount], missing: Mapping[str, str], calls: int, *, user_only: bool
) -> str:
    """The figures per call, their ratios, and why others are missing."""
    rows = [_row(event.name, counts) for event in EVENTS if event.name in counts]
    lines = [f"The mean of {calls} calls in a row on the same data, so with warm caches."]
    if user_only and rows:
        lines.append("Without what the system did for the submission: that may not be counted.")
    if rows:
        lines += ["", columns(rows)]
    for reason in dict.fromkeys(missing.values()):
        names = ", ".join(name for name, why in missing.items() if why == reason)
        lines.append(f"Not counted: {names} ({reason}).")
    return "\n".join(lines)


def _row(name: str, counts: Mapping[str, EventCount]) -> tuple[str, str, str]:
    value = counts[name].value
    if name == "task-clock":
        return f"{name}, us", f"{value / 1e3:,.3f}", ""
    return name, f"{value:,.0f}" if value >= 100 else f"{value:,.3g}", _beside(name, counts)


def _beside(name: str, counts: Mapping[str, EventCount]) -> str:
    parts = []
    if name == "cycles" and "task-clock" in counts and counts["task-clock"].value:
        parts.append(f"{counts[name].value / counts['task-clock'].value:.2f} GHz")
    if name in _OF:
        other, unit = _OF[name]
        if other in counts and counts[other].value:
            share = counts[name].value / counts[other].value
            parts.append(f"{share * 100:.2f} {unit}" if unit[0] == "%" else f"{share:.2f} {unit}")
    if counts[name].share < 1:
        parts.append(f"(counted {counts[name].share * 100:.0f} % of the time)")
    return " ".join(parts)


def _as_json(counts: Mapping[str, EventCount], calls: int) -> File:
    figures = {
        name: {"per_call": count.value, "counted_share": count.share}
        for name, count in counts.items()
    }
    document = {"calls": calls, "counters": figures}
    return File("counters.json", "application/json", json.dumps(document, indent=2).encode())
