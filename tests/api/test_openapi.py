"""Sends every route what its document allows, and what it doesn't: every answer is documented."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import positive_data_acceptance
from schemathesis.specs.openapi.schemas import OpenApiSchema

from tests.support.exhaustive import cases, examples, first_of_each
from tests.support.live import LiveServer, live_server
from tests.support.postgres import TestServer

WITHOUT_PARAMETERS = [
    ("GET", "/api/v1/boards"),
    ("GET", "/api/v1/users/me"),
    ("GET", "/api/v1/users/me/identities"),
    ("GET", "/api/v1/users/me/author-page"),
    ("GET", "/api/v1/following"),
    ("GET", "/api/v1/tokens"),
    ("POST", "/api/v1/device-logins"),
    ("POST", "/api/v1/login-links"),
    ("GET", "/api/v1/platform"),
    ("POST", "/api/v1/platform/resume"),
    ("GET", "/api/v1/signing-keys"),
    ("POST", "/api/v1/signing-keys"),
    ("GET", "/api/v1/devices"),
    ("GET", "/health"),
    ("GET", "/ready"),
    ("GET", "/ready/judging"),
    ("GET", "/metrics"),
]
WITH_PARAMETERS = [
    ("POST", "/api/v1/boards"),
    ("GET", "/api/v1/boards/{board}"),
    ("GET", "/api/v1/boards/{board}/problem"),
    ("GET", "/api/v1/boards/{board}/standings"),
    ("GET", "/api/v1/boards/{board}/standings.csv"),
    ("GET", "/api/v1/boards/{board}/duels"),
    ("GET", "/api/v1/boards/{board}/duels/{duel_id}"),
    ("GET", "/api/v1/boards/{board}/duels/{duel_id}/samples"),
    ("GET", "/api/v1/authors"),
    ("GET", "/api/v1/authors/{author_id}"),
    ("PUT", "/api/v1/following/boards/{board}"),
    ("DELETE", "/api/v1/following/boards/{board}"),
    ("PUT", "/api/v1/following/authors/{author_id}"),
    ("DELETE", "/api/v1/following/authors/{author_id}"),
    ("PUT", "/api/v1/users/me/author-page"),
    ("GET", "/api/v1/submissions/{submission_id}/link"),
    ("PUT", "/api/v1/submissions/{submission_id}/link"),
    ("DELETE", "/api/v1/submissions/{submission_id}/link"),
    ("GET", "/api/v1/reviews"),
    ("GET", "/api/v1/submissions"),
    ("POST", "/api/v1/submissions"),
    ("POST", "/api/v1/boards/{board}/rejudges"),
    ("GET", "/api/v1/boards/{board}/rejudges/{rejudge_id}"),
    ("DELETE", "/api/v1/boards/{board}/rejudges/{rejudge_id}"),
    ("GET", "/api/v1/submissions/{submission_id}"),
    ("GET", "/api/v1/submissions/{submission_id}/samples"),
    ("GET", "/api/v1/submissions/{submission_id}/attestation"),
    ("GET", "/api/v1/submissions/{submission_id}/artifacts"),
    ("GET", "/api/v1/submissions/{submission_id}/artifacts/{run_id}/{name}"),
    ("POST", "/api/v1/submissions/{submission_id}/cancel"),
    ("POST", "/api/v1/submissions/{submission_id}/release"),
    ("POST", "/api/v1/submissions/{submission_id}/refuse"),
    ("GET", "/api/v1/submissions/{submission_id}/events"),
    ("GET", "/api/v1/jobs/{job_id}/payload"),
    ("POST", "/api/v1/jobs/{job_id}/events"),
    ("GET", "/api/v1/harness/{sha256}"),
    ("POST", "/api/v1/users"),
    ("GET", "/api/v1/users"),
    ("PUT", "/api/v1/users/{user_id}/role"),
    ("PUT", "/api/v1/users/{user_id}/ban"),
    ("DELETE", "/api/v1/users/{user_id}/ban"),
    ("POST", "/api/v1/tokens"),
    ("POST", "/api/v1/device-logins/poll"),
    ("DELETE", "/api/v1/tokens/{token_id}"),
    ("GET", "/api/v1/webhooks"),
    ("POST", "/api/v1/webhooks"),
    ("GET", "/api/v1/webhooks/{webhook_id}/messages"),
    ("POST", "/api/v1/webhooks/{webhook_id}/test"),
    ("POST", "/api/v1/webhooks/{webhook_id}/enable"),
    ("DELETE", "/api/v1/webhooks/{webhook_id}"),
    ("PATCH", "/api/v1/boards/{board}"),
    ("GET", "/api/v1/boards/{board}/limits"),
    ("PUT", "/api/v1/boards/{board}/limits/{category}"),
    ("DELETE", "/api/v1/boards/{board}/limits/{category}"),
    ("GET", "/api/v1/boards/{board}/invites"),
    ("POST", "/api/v1/invites"),
    ("DELETE", "/api/v1/invites/{code}"),
    ("POST", "/api/v1/invites/join"),
    ("POST", "/api/v1/platform/pause"),
    ("GET", "/api/v1/audit"),
    ("DELETE", "/api/v1/boards/{board}"),
    ("DELETE", "/api/v1/boards/{board}/submissions"),
    ("DELETE", "/api/v1/submissions/{submission_id}"),
    ("DELETE", "/api/v1/users/me"),
    ("DELETE", "/api/v1/users/me/identities/{provider}/{subject}"),
    ("DELETE", "/api/v1/users/{user_id}"),
    ("POST", "/api/v1/sync/archive"),
    ("GET", "/api/v1/stats"),
    ("GET", "/api/v1/exports"),
    ("POST", "/api/v1/exports/hub"),
]
OPERATIONS = WITHOUT_PARAMETERS + WITH_PARAMETERS
NOT_ASKED = [
    ("POST", "/api/v1/sync"),  # it would fetch from whatever address comes to mind
]
EXCLUDED: dict[tuple[str, str], list[Any]] = {
    # What a problem, a source file and a name are can't all be said in a schema.
    ("POST", "/api/v1/boards"): [positive_data_acceptance],
    ("POST", "/api/v1/submissions"): [positive_data_acceptance],
    ("POST", "/api/v1/users"): [positive_data_acceptance],
    ("POST", "/api/v1/tokens"): [positive_data_acceptance],
    ("POST", "/api/v1/webhooks"): [positive_data_acceptance],
    ("POST", "/api/v1/device-logins/poll"): [positive_data_acceptance],
    ("POST", "/api/v1/platform/pause"): [positive_data_acceptance],
    ("POST", "/api/v1/submissions/{submission_id}/release"): [positive_data_acceptance],
    ("POST", "/api/v1/submissions/{submission_id}/refuse"): [positive_data_acceptance],
    ("PUT", "/api/v1/users/{user_id}/ban"): [positive_data_acceptance],
    ("POST", "/api/v1/invites/join"): [positive_data_acceptance],
    ("POST", "/api/v1/sync/archive"): [positive_data_acceptance],
    ("POST", "/api/v1/exports/hub"): [positive_data_acceptance],
    ("POST", "/api/v1/jobs/{job_id}/events"): [positive_data_acceptance],
    # No worker runs here, so the server truly isn't ready to judge.
    ("GET", "/ready/judging"): [not_a_server_error],
}


@pytest.fixture(scope="module")
def live(postgres: TestServer) -> Iterator[LiveServer]:
    with postgres.database() as url, live_server(url) as server:
        server.call(server.world.board())
        submission = server.call(server.world.submit())
        # Finished, because a stream of a submission that waits would not end.
        server.call(server.world.services.submissions.cancel(server.world.ada.user, submission.id))
        yield server


@pytest.fixture(scope="module")
def document(live: LiveServer) -> OpenApiSchema:
    return schemathesis.openapi.from_url(f"{live.url}/openapi.json", timeout=60)


def test_every_operation_is_asked(document: OpenApiSchema) -> None:
    paths = document.raw_schema["paths"]
    found = [
        (method.upper(), path)
        for path, methods in paths.items()
        for method, operation in methods.items()
        if "popcorn" not in operation["tags"]  # asked in tests/api/popcorn
    ]
    assert sorted(OPERATIONS + NOT_ASKED) == sorted(found)


def shape(operation: tuple[str, str]) -> tuple[str, bool]:
    """What operations have in common that are accepted and refused for alike reasons: the method,
    and whether there is a parameter in the path. Of each `make test` asks one."""
    method, path = operation
    return method, "{" in path


@pytest.mark.parametrize(
    "operation", cases(OPERATIONS, always=first_of_each(OPERATIONS, kind=shape))
)
def test_what_the_document_allows(
    live: LiveServer, document: OpenApiSchema, operation: tuple[str, str]
) -> None:
    ask(live, document, operation, GenerationMode.POSITIVE)


@pytest.mark.parametrize(
    "operation", cases(WITH_PARAMETERS, always=first_of_each(WITH_PARAMETERS, kind=shape))
)
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
    headers = {"Authorization": f"Bearer {live.world.admin.token}"}
    excluded = EXCLUDED.get(operation, [])

    @settings(
        max_examples=examples(20),
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=document[path][method].as_strategy(generation_mode=generation_mode))
    def one(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(headers=headers, timeout=60, excluded_checks=excluded)

    one()
