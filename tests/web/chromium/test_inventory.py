"""Every route and form for browsers is tried in Chromium: what the tests here say that they open
and send, to which `conftest.py` holds them, is compared with what there is."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

from tests.web import chromium
from tests.web.chromium.inventory import Form, Route, forms, route_of, routes


def marked(name: str) -> Iterator[str]:
    """The arguments of all marks of this name in this package."""
    for found in pkgutil.iter_modules(chromium.__path__):
        module = importlib.import_module(f"{chromium.__name__}.{found.name}")
        for member in vars(module).values():
            for mark in getattr(member, "pytestmark", ()):
                if isinstance(mark, pytest.Mark) and mark.name == name:
                    yield from mark.args


@pytest.fixture(scope="module")
def sent() -> set[Route | None]:
    return {route_of(*form.split(" ", 1)) for form in marked("sends")}


def test_every_form_leads_somewhere() -> None:
    assert [] == [form for form in forms() if form.route is None]


def test_every_form_is_sent_in_chromium(sent: set[Route | None]) -> None:
    """If this fails, fill the form in in a test of this package that is marked with `sends`."""
    unsent = [_sentence(form) for form in forms() if form.route not in sent]
    assert [] == unsent, "\n".join(unsent)


def _sentence(form: Form) -> str:
    return f"No test in Chromium sends the form of {form.template} that leads to {form.route}."


def test_everything_is_opened_in_chromium(sent: set[Route | None]) -> None:
    """If this fails, open it in a test of this package that is marked with `opens`, or send it."""
    opened = {route_of("GET", path) for path in marked("opens")}
    untried = [f"No test asks for {route}." for route in sorted(routes() - opened - sent)]
    assert [] == untried, "\n".join(untried)


def test_every_mark_names_something_that_there_is() -> None:
    named = [("GET", path) for path in marked("opens")]
    named += [(method, path) for method, path in (form.split(" ", 1) for form in marked("sends"))]
    assert [] == [(method, path) for method, path in named if route_of(method, path) is None]
