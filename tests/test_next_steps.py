"""Every door says what to do next in its own words, and names only what there is."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from discord import app_commands

import kernelbot
from kernelbot.api import errors as api
from kernelbot.api.app import create_app
from kernelbot.bot import errors as bot
from kernelbot.bot.commands import AnyCommand, command_groups
from kernelbot.domain.next_steps import Next
from kernelbot.render import advice as terminal
from kernelbot.web import errors as web
from tests.test_documented_commands import DOCS, complaint
from tests.web.chromium.inventory import routes

SENTENCES: dict[str, Mapping[Next, str]] = {
    "api": api.ADVICE,
    "bot": bot.ADVICE,
    "terminal": terminal.ADVICE,
    "web": {step: advice.sentence for step, advice in web.ADVICE.items()},
}
"""By door."""
QUOTED = re.compile(r"`([^`]+)`")
ROUTE = re.compile(r"`([A-Z]+) (/[^`]*)`")
SLASH = re.compile(r"(?<![\w/`.])`?/([a-z][a-z-]*(?: [a-z][a-z-]*)?)\b")
NOUNS = (
    *("accounts", "attestations", "boards", "duels", "guilds", "moderation", "platform"),
    *("ranking", "runs", "saves", "submissions", "webhooks"),
)
OF_ALL_DOORS = ("api", "catalog", "domain", "schemas", "store", *NOUNS)
"""Packages whose errors are shown at every door, but for the pages of nouns."""
ONE_DOORS_WORDS = re.compile(r"\bkernelbot [a-z]|(?<!\w)--[a-z]|/admin |/leaderboard ")
SOURCES = Path(kernelbot.__file__).parent


@pytest.mark.parametrize("door", SENTENCES)
def test_every_door_has_a_sentence_for_every_step(door: str) -> None:
    said = {step for step, sentence in SENTENCES[door].items() if sentence}
    assert set(Next) == said


@pytest.mark.parametrize("door", SENTENCES)
def test_every_command_of_the_terminal_that_is_named_exists(door: str) -> None:
    named = [found for said in SENTENCES[door].values() for found in QUOTED.findall(said)]
    ours = [one for one in named if one.startswith("kernelbot ")]
    assert [] == [wrong for wrong in map(complaint, ours) if wrong]


@pytest.mark.parametrize("door", SENTENCES)
def test_every_slash_command_that_is_named_exists(door: str) -> None:
    named = {found for said in SENTENCES[door].values() for found in slash_commands(said)}
    assert set() == named - known_commands()


@pytest.mark.parametrize("door", SENTENCES)
def test_every_route_that_is_named_exists(door: str) -> None:
    named = {found for said in SENTENCES[door].values() for found in ROUTE.findall(said)}
    assert set() == named - known_routes()


def test_every_page_that_is_named_exists() -> None:
    named = {("GET", advice.page) for advice in web.ADVICE.values() if advice.page}
    assert set() == named - known_routes()


def test_the_reference_names_every_word() -> None:
    text = (DOCS / "reference" / "http-api.md").read_text()
    listed = text.partition("`next` is a word for programs, or null:")[2].partition(".")[0]
    assert list(Next) == QUOTED.findall(listed)


def test_the_terminal_names_the_command_that_does_it() -> None:
    naming = [step for step, said in terminal.ADVICE.items() if "`kernelbot " in said]
    words = [step for step in Next if step.split("_")[0] in ("list", "show", "revoke", "delete")]
    assert [] == [step for step in words if step not in naming]


@pytest.mark.parametrize("package", OF_ALL_DOORS)
def test_hints_that_every_door_shows_have_no_words_of_one(package: str) -> None:
    """If this fails, raise the error with a member of `Next`, and give it a sentence everywhere."""
    found = [
        f"{path.relative_to(SOURCES)}: {hint}"
        for path in sorted((SOURCES / package).rglob("*.py"))
        if "pages" not in path.with_suffix("").parts
        for hint in hints(path)
        if ONE_DOORS_WORDS.search(hint)
    ]
    assert [] == found


def test_a_hint_with_a_command_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text('raise NotFound("No.", hint=f"See: kernelbot board show {name}")')
    assert [True] == [ONE_DOORS_WORDS.search(hint) is not None for hint in hints(path)]


def test_what_is_not_there_is_noticed() -> None:
    assert ["nope now"] == slash_commands("See: `/nope now`")
    assert "nope now" not in known_commands()
    assert "admin settings" in known_commands()
    assert ("GET", "/api/v1/boards") in known_routes()


def hints(path: Path) -> Iterator[str]:
    """What a file gives as `hint=`: its constant parts, with `x` for what is filled in."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.keyword) and node.arg == "hint":
            parts = node.value.values if isinstance(node.value, ast.JoinedStr) else [node.value]
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "x" for part in parts
            )


def slash_commands(said: str) -> list[str]:
    """The slash commands that a sentence names, without the stroke."""
    return SLASH.findall(ROUTE.sub("", said))


@cache
def known_commands() -> frozenset[str]:
    """All of the bot's, by their full names."""
    # The commands are only asked for their names, so they need no bot.
    groups = command_groups(None)  # type: ignore[arg-type]
    return frozenset(name for group in groups for name in _names(group))


def _names(command: AnyCommand) -> Iterator[str]:
    yield command.qualified_name
    if isinstance(command, app_commands.Group):
        for below in command.commands:
            yield from _names(below)


@cache
def known_routes() -> frozenset[tuple[str, str]]:
    """Method and path of every route, of the API and of the pages."""
    # The services are never asked.
    documented = create_app(None).openapi()["paths"]  # type: ignore[arg-type]
    of_api = ((method.upper(), path) for path, ways in documented.items() for method in ways)
    return frozenset([*of_api, *((one.method, one.path) for one in routes())])
