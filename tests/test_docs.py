"""The reference pages name everything: nothing new stays undocumented."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.core
import typer.main
from fastapi.routing import APIRoute

from kernelbot.api import popcorn
from kernelbot.api.app import V1
from kernelbot.cli.tree import command_tree
from kernelbot.domain import errors
from kernelbot.extensions import installed
from kernelbot.platform.health import api as system
from kernelbot.protocol import Mode, Verdict

DOCS = Path(__file__).resolve().parent.parent / "docs"
REFERENCE = DOCS / "reference"
LINK = re.compile(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)")


def page(name: str) -> str:
    return (REFERENCE / name).read_text()


def error_codes() -> set[str]:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    trees = [kind for kind in kinds if issubclass(kind, errors.KernelbotError)]
    return {kind.code for kind in trees if kind is not errors.KernelbotError}


def linked_from(page: Path) -> set[Path]:
    """The pages that it has links to."""
    return {(page.parent / link).resolve() for link in LINK.findall(page.read_text())}


def test_every_page_is_on_the_map() -> None:
    decisions = DOCS / "decisions" / "README.md"
    linked = {DOCS / "README.md"} | linked_from(DOCS / "README.md") | linked_from(decisions)
    assert set() == set(DOCS.rglob("*.md")) - linked


def test_only_decisions_are_a_second_step_away() -> None:
    far = set(DOCS.rglob("*.md")) - linked_from(DOCS / "README.md") - {DOCS / "README.md"}
    assert {"decisions"} == {page.parent.name for page in far}


def test_the_map_has_a_part_for_each_reader() -> None:
    heads = re.findall(r"^## (\w[\w ]*):", (DOCS / "README.md").read_text(), re.MULTILINE)
    assert [
        "Authors",
        "Problem authors",
        "Organisers",
        "Operators",
        "Vendors",
        "Contributors",
    ] == heads


def test_every_error_code_is_explained() -> None:
    text = page("http-api.md")
    assert {code for code in error_codes() if f"`{code}`" not in text} == set()


def test_every_route_is_listed() -> None:
    beside = [router for one in installed() for router in one.routes]
    routes = [
        f"{method} {route.path}"
        for router in (*V1, *beside, system.probes)
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    ]
    text = page("http-api.md")
    assert [route for route in routes if f"`{route}`" not in text] == []


def commands(group: typer.core.TyperGroup, prefix: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, typer.core.TyperGroup):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}"


def test_every_command_is_listed() -> None:
    tree = typer.main.get_group(command_tree())
    text = page("cli.md")
    assert [line for line in commands(tree, "kernelbot") if f"`{line}" not in text] == []


def test_every_route_for_existing_clients_is_listed() -> None:
    routes = [
        f"{method} {route.path}"
        for router in popcorn.ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    ]
    text = page("popcorn-http.md")
    assert [route for route in routes if f"`{route}`" not in text] == []


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_is_explained(verdict: Verdict) -> None:
    assert f"| `{verdict}` |" in page("verdicts.md")


@pytest.mark.parametrize("mode", list(Mode))
def test_every_mode_is_named(mode: Mode) -> None:
    assert mode.value in page("cli.md")
