"""Discord's limits, each refused with 400 as the real one does."""

from collections.abc import Iterable
from typing import Any

from tests.fakes.discord.model import Upload, Wire

CONTENT = 2000
CHOICES = 25
FILES = 10
FILE_BYTES = 10 << 20
MEMBERS = 1000
"""Of a guild, in one page."""
NAME = 100
CHANNELS, IN_CATEGORY, ROLES = 500, 50, 250
"""Of a guild; categories count as channels, threads don't."""
_SUBCOMMANDS = (1, 2)


def message_faults(payload: Wire, files: Iterable[Upload] = ()) -> list[str]:
    """What is wrong with a message; empty: nothing."""
    found = []
    attached = list(files)
    if len(payload.get("content") or "") > CONTENT:
        found.append(f"content: {len(payload['content'])} characters, {CONTENT} at most")
    if len(attached) > FILES:
        found.append(f"files: {len(attached)}, {FILES} at most")
    found += [f"file {one.name}: too large" for one in attached if len(one.content) > FILE_BYTES]
    found += [f"embed: {e}" for e in payload.get("embeds") or [] if len(str(e)) > 6000]
    rows = payload.get("components") or []
    if len(rows) > 5:
        found.append(f"components: {len(rows)} rows, 5 at most")
    for row in rows:
        found += _row_faults(row)
    mentions = payload.get("allowed_mentions")
    if mentions is None or mentions.get("parse") or mentions.get("users") or mentions.get("roles"):
        found += ["allowed_mentions: someone may be pinged"] if payload.get("content") else []
    return found


def _row_faults(row: Wire) -> list[str]:
    found = []
    items = row.get("components", [])
    if len(items) > 5:
        found.append(f"a row of {len(items)} components, 5 at most")
    for item in items:
        found += _longer(item, "custom_id", 100) + _longer(item, "label", 80)
        found += _longer(item, "placeholder", 150)
        options = item.get("options") or []
        if item["type"] == 3 and not 1 <= len(options) <= CHOICES:
            found.append(f"a select menu of {len(options)} options")
        for option in options:
            found += _longer(option, "label", 100) + _longer(option, "value", 100)
            found += _longer(option, "description", 100)
    return found


def modal_faults(payload: Wire) -> list[str]:
    """What is wrong with a form."""
    found = _longer(payload, "title", 45) + _longer(payload, "custom_id", 100)
    if not 1 <= len(payload.get("components", [])) <= 5:
        found.append("a form has 1 to 5 rows")
    for item in fields(payload.get("components", [])):
        found += _longer(item, "placeholder", 100)
        if (item.get("max_length") or 0) > 4000:
            found.append("a field takes 4000 characters at most")
    return found


def fields(components: Iterable[Wire]) -> list[Wire]:
    """The fields of a form, which stand in rows or in labels."""
    found = []
    for row in components:
        found += row.get("components", [])
        found += [row["component"]] if "component" in row else []
    return found


def command_faults(commands: list[Wire]) -> list[str]:
    """What is wrong with the commands of an application."""
    found = []
    if len(commands) > 100:
        found.append(f"{len(commands)} commands, 100 at most")
    names = [(command["name"], command.get("type", 1)) for command in commands]
    found += [f"two commands are called {name}" for name in names if names.count(name) > 1]
    for command in commands:
        found += _option_faults(command, command["name"])
    return found


def _option_faults(command: Wire, where: str) -> list[str]:
    found = [f"{where}: {text}" for text in _longer(command, "name", 32)]
    if command.get("type", 1) in (1, 2) and "description" in command:
        found += [f"{where}: {text}" for text in _longer(command, "description", 100)]
        if command.get("type", 1) != 2 and not command["description"]:
            found.append(f"{where}: no description")
    options = command.get("options") or []
    if len(options) > 25:
        found.append(f"{where}: {len(options)} options, 25 at most")
    needed = [bool(option.get("required")) for option in options if option["type"] > 2]
    if needed != sorted(needed, reverse=True):
        found.append(f"{where}: required options come first")
    for option in options:
        found += _option_faults(option, f"{where} {option['name']}")
        if len(option.get("choices") or []) > CHOICES:
            found.append(f"{where} {option['name']}: over {CHOICES} choices")
    return found


def choice_faults(choices: list[Wire]) -> list[str]:
    """What is wrong with the suggestions of an autocomplete."""
    found = [f"{len(choices)} suggestions"] if len(choices) > CHOICES else []
    for choice in choices:
        found += _longer(choice, "name", NAME)
        found += [] if 1 <= len(str(choice["value"])) <= NAME else ["value: too long or empty"]
    return found


def _longer(item: Wire, key: str, limit: int) -> list[str]:
    value: Any = item.get(key)
    if isinstance(value, str) and len(value) > limit:
        return [f"{key}: {len(value)} characters, {limit} at most"]
    return []


def find_command(commands: list[Wire], words: list[str]) -> list[Wire]:
    """The options of the registered command of these words. Raises `AssertionError`."""
    options: list[Wire] = commands
    for word in words:
        named = [one for one in options if one["name"] == word and one.get("type", 1) in (1, 2)]
        assert named, f"there is no command /{' '.join(words)}"
        options = named[0].get("options") or []
    assert not any(option["type"] in _SUBCOMMANDS for option in options), "a group isn't a command"
    return options
