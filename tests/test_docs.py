"""The reference pages name everything: nothing new stays undocumented."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.core
import typer.main
from fastapi.routing import APIRoute

from kernelbot.api import popcorn
from kernelbot.api.app import V1
from kernelbot.api.routers import system
from kernelbot.cli.app import command_tree
from kernelbot.domain import errors
from kernelbot.protocol import Mode, Verdict

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"


def page(name: str) -> str:
    return (REFERENCE / name).read_text()


def error_codes() -> set[str]:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    trees = [kind for kind in kinds if issubclass(kind, errors.KernelbotError)]
    return {kind.code for kind in trees if kind is not errors.KernelbotError}


def test_every_page_is_listed_in_the_table_of_contents() -> None:
    docs = REFERENCE.parent
    contents = (docs / "README.md").read_text() + (docs / "decisions" / "README.md").read_text()
    pages = [path for path in docs.rglob("*.md") if path.name != "README.md"]
    assert [str(path) for path in pages if f"{path.name})" not in contents] == []


def test_every_error_code_is_explained() -> None:
    text = page("http-api.md")
    assert {code for code in error_codes() if f"`{code}`" not in text} == set()


def test_every_route_is_listed() -> None:
    routes = [
        f"{method} {route.path}"
        for router in (*V1, system.probes)
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
