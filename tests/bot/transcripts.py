"""Transcripts without what differs from run to run."""

import re
from collections.abc import Iterator

from tests.bot.stage import Stage
from tests.fakes.discord import FakeGuild, Person
from tests.fakes.discord.model import Wire

_ANNOUNCED = re.compile(r"bot in (#general|thread (?!Output of))")
_CHANGING = (
    (r"in \d+ ms", "in N ms"),
    (r"submission \d+", "submission N"),
    (r"Submission \d+", "Submission N"),
    (r"#\d+\b", "#N"),
    (r"\b(id|before|after):\d+", r"\1:N"),
    (r"\b\d+-\d+\.diff", "N.diff"),
    (r"<t:\d+:", "<t:N:"),
    (r"accepted on .*? \(\d+\.\d s\)", "accepted on CPU (N s)"),
    (r": \d+ accounts\.", ": N accounts."),
    (r"^\d+: There", "N: There"),
    (r"N to \d+:", "N to N:"),
)


def seen(stage: Stage, person: Person) -> str:
    """What a person saw, without announcements to everyone, numbers and durations, and of changes
    in a row, and of what a submission's message said while it waited, only the last."""
    kept: list[str] = []
    for entry in stage.discord.transcript.entries:
        if entry.only_for not in (None, person.user.id) or _ANNOUNCED.match(entry.text):
            continue
        waited = bool(kept) and ("Position " in kept[-1] or kept[-1].startswith("bot edits"))
        if entry.text.startswith("bot edits") and waited:
            kept.pop()
        kept.append(entry.text)
    text = "\n".join(kept)
    for pattern, replacement in _CHANGING:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


def leaf_commands(guild: FakeGuild) -> set[str]:
    """The full names of all commands that are registered."""
    return {name for command in guild.commands for name in _leaves(command, "")}


def _leaves(command: Wire, prefix: str) -> Iterator[str]:
    name = f"{prefix} {command['name']}".strip()
    below = [one for one in command.get("options", ()) if one["type"] in (1, 2)]
    if not below:
        yield name
    for one in below:
        yield from _leaves(one, name)
