"""The routes for browsers, and the forms in the templates that lead to them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any

from fastapi.routing import APIRoute
from jinja2 import ChainableUndefined, Environment, PackageLoader

from kernelbot.extensions import installed
from kernelbot.web.assets import Assets
from kernelbot.web.assets import router as assets_router
from kernelbot.web.filters import FILTERS
from kernelbot.web.organise import ROUTERS as ORGANISE
from kernelbot.web.site import ROUTERS

_TAG = re.compile(r"<(form|button)\b(?:[^>{]|\{\{.*?\}\}|\{%.*?%\})*>")
_ADDRESS = re.compile(r'\b(?:form)?action="([^"]*)"')
_NAMES = re.compile(r"\{% set (?:one|here) = .*? %\}")
_MACROS = '{% import "macros.html" as ui %}'


@dataclass(frozen=True, order=True)
class Route:
    """A method and a path with its parameters, as a router has it."""

    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Form:
    """A form, or a button that leads elsewhere. `route`: None if nothing is there."""

    template: str
    address: str
    route: Route | None


@cache
def _routes() -> tuple[APIRoute, ...]:
    """In the order in which the application tries them."""
    beside = [router for one in installed() for router in one.pages]
    routers = (*ROUTERS, *ORGANISE, *beside, assets_router(Assets()))
    found = chain.from_iterable(router.routes for router in routers)
    return tuple(one for one in found if isinstance(one, APIRoute))


def routes() -> set[Route]:
    """All that browsers can ask for."""
    return {Route(method, one.path) for one in _routes() for method in one.methods or ()}


def route_of(method: str, path: str) -> Route | None:
    """The route that answers; None: there is none. A query in the path is ignored."""
    plain = path.partition("?")[0]
    for one in _routes():
        if method in (one.methods or ()) and one.path_regex.match(plain):
            return Route(method, one.path)
    return None


def forms() -> list[Form]:
    """Every form of every template."""
    folder = files("kernelbot.web") / "templates"
    loader = PackageLoader("kernelbot.web")
    environment = Environment(loader=loader, undefined=_Something, autoescape=True)
    environment.filters.update(FILTERS)
    found = []
    for name in loader.list_templates():
        text = folder.joinpath(name).read_text()
        names = "".join(_NAMES.findall(text))
        for method, address in _addresses(text):
            shown = environment.from_string(f"{_MACROS}{names}{address}").render().strip()
            found.append(Form(name, shown, route_of(method, shown)))
    return found


def _addresses(text: str) -> Iterator[tuple[str, str]]:
    """Methods and addresses, which may hold expressions. A button's method is its form's."""
    method = "GET"
    for tag in _TAG.finditer(text):
        if tag[1] == "form":
            method = "POST" if 'method="post"' in tag[0] else "GET"
        if address := _ADDRESS.search(tag[0]):
            yield method, address[1]


class _Something(ChainableUndefined):
    """What a template would be given: it stands for some name or number."""

    __iter__: Any = None

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return "x"
