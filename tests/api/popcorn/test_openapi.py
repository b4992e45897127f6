"""Asks every route for existing clients what its document allows, and what it doesn't."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance
from schemathesis.specs.openapi.schemas import OpenApiSchema

from kernelbot.api import popcorn
from tests.support.exhaustive import cases, examples
from tests.support.live import ADMIN_TOKEN, LiveServer, live_server
from tests.support.postgres import TestServer

OPERATIONS = [
    (method, route.path)
    for router in popcorn.ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute)
    for method in sorted(route.methods or ())
]
ANY_TEXT = [
    ("GET", "/leaderboards"),
    ("GET", "/gpus/{board}"),
    ("GET", "/runner_queue/{device}"),
    ("GET", "/submission_count/{board}/{device}"),
]
"""Whose parameters may be any text, so that their document forbids nothing."""
FORBIDS = [known for known in OPERATIONS if known not in ANY_TEXT]
# Names, codes and files that exist can't be said in a schema, and existing clients send things
# that no schema of ours would allow: what is asked here is that no answer surprises.
EXCLUDED: list[Any] = [positive_data_acceptance, negative_data_rejection]


@pytest.fixture(scope="module")
def live(postgres: TestServer) -> Iterator[LiveServer]:
    with postgres.database() as url, live_server(url) as server:
        server.call(server.world.board())
        server.call(server.world.submit())
        yield server


@pytest.fixture(scope="module")
def document(live: LiveServer) -> OpenApiSchema:
    return schemathesis.openapi.from_url(f"{live.url}/openapi.json", timeout=60)


@pytest.mark.parametrize("operation", cases(OPERATIONS, always=OPERATIONS[::6]))
def test_what_the_document_allows(
    live: LiveServer, document: OpenApiSchema, operation: tuple[str, str]
) -> None:
    ask(live, document, operation, GenerationMode.POSITIVE)


@pytest.mark.parametrize("operation", cases(FORBIDS, always=FORBIDS[::6]))
def test_what_the_document_forbids(
    live: LiveServer, document: OpenApiSchema, operation: tuple[str, str]
) -> None:
    ask(live, document, operation, GenerationMode.NEGATIVE)


def ask(
    live: LiveServer,
    document: OpenApiSchema,
    operation: tuple[str, str],
    generation_mode: GenerationMode,
) -> None:
    method, path = operation
    headers = {
        "X-Popcorn-Cli-Id": live.world.ada.token,
        "Authorization": f"Bearer {ADMIN_TOKEN}",
    }
    case_of = document[path][method].as_strategy(generation_mode=generation_mode)

    @settings(
        max_examples=examples(15),
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=case_of)
    def one(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(headers=headers, timeout=60, excluded_checks=EXCLUDED)

    one()
