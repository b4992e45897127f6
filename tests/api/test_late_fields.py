"""What routes read and write is built when it is used; that all of it can be is tried here."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from kernelbot.api import app, popcorn
from kernelbot.api.late_fields import build_when_used
from kernelbot.web import organise, site

ROUTERS = (*app.V1, *popcorn.ROUTERS, *site.ROUTERS, *organise.ROUTERS)
_LOAD = """
import kernelbot.server.answer
from fastapi._compat import ModelField
import gc
found = [one for one in gc.get_objects() if isinstance(one, ModelField)]
print(len(found), sum("_type_adapter" in vars(one) for one in found))
"""


def fields(dependant: Dependant) -> Iterator[Any]:
    for kind in ("path_params", "query_params", "header_params", "cookie_params", "body_params"):
        yield from getattr(dependant, kind)
    for below in dependant.dependencies:
        yield from fields(below)


@pytest.mark.parametrize("router", ROUTERS)
def test_each_field_of_each_route_can_be_built(router: Any) -> None:
    routes = [route for route in router.routes if isinstance(route, APIRoute)]
    assert routes
    for route in routes:
        found = [*fields(route.dependant), route.body_field, route.response_field]
        for field in [one for one in found if one is not None]:
            assert field._type_adapter.core_schema, (route.path, field.name)


@pytest.mark.exhaustive  # each run has test_each_field_of_each_route_can_be_built
def test_a_server_that_was_only_loaded_has_built_none() -> None:
    done = subprocess.run([sys.executable, "-c", _LOAD], capture_output=True, text=True, check=True)
    there, built = map(int, done.stdout.split())
    assert there > 300
    assert built == 0


def test_a_late_field_reads_refuses_and_describes_what_it_is_declared_for() -> None:
    build_when_used()
    served = FastAPI()

    @served.get("/{number}")
    async def doubled(number: int, more: list[str] | None = None) -> dict[str, int]:
        return {"doubled": 2 * number}

    with TestClient(served) as client:
        assert {"doubled": 14} == client.get("/7").json()
        refused = client.get("/seven")
        document = client.get("/openapi.json").json()
    assert (422, ["path", "number"]) == (refused.status_code, refused.json()["detail"][0]["loc"])
    parameters = document["paths"]["/{number}"]["get"]["parameters"]
    assert {"type": "integer", "title": "Number"} == parameters[0]["schema"]
