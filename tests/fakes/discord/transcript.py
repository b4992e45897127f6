"""What people typed and saw, in order."""

from dataclasses import dataclass, field

from tests.fakes.discord.model import FakeMessage, Wire


@dataclass(frozen=True)
class Entry:
    """A step. `only_for`: the one person who saw it; None: everyone in the channel."""

    text: str
    only_for: int | None = None


@dataclass
class Transcript:
    """Every step since the last `clear`."""

    entries: list[Entry] = field(default_factory=list)

    def add(self, text: str, only_for: int | None = None) -> None:
        """One more step."""
        self.entries.append(Entry(text, only_for))

    def clear(self) -> None:
        """Forget what was."""
        self.entries.clear()

    @property
    def text(self) -> str:
        """All of it, one step below the other."""
        return "\n".join(entry.text for entry in self.entries)

    def seen_by(self, person_id: int) -> str:
        """What this person saw."""
        shown = [entry.text for entry in self.entries if entry.only_for in (None, person_id)]
        return "\n".join(shown)


def shown(message: FakeMessage) -> str:
    """A message as a person sees it: text, files, embeds, buttons and menus."""
    parts = [message.content] if message.content else []
    for embed in message.embeds:
        lines = [embed.get("title", ""), embed.get("description", "")]
        lines += [f"{one['name']}: {one['value']}" for one in embed.get("fields", [])]
        parts.append("\n".join(line for line in lines if line))
    parts += [f"[file {file.name}]" for file in message.files]
    parts += [_component(item) for item in message.parts()]
    return "\n".join(parts)


def _component(item: Wire) -> str:
    off = " (off)" if item.get("disabled") else ""
    if item["type"] == 2:
        return f"[{item.get('label')}{off}]"
    labels = " | ".join(option["label"] for option in item.get("options", []))
    return f"[{item.get('placeholder')}: {labels}{off}]"
