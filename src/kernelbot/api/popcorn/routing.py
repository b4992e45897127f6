"""Routes whose errors have the statuses that those clients expect."""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from kernelbot.api.errors import (
    body_of,
    described_error,
    headers_of,
    note,
    sentence,
    status_of,
)
from kernelbot.api.popcorn.models import ErrorAnswer
from kernelbot.domain import errors

STATUS: dict[type[errors.KernelbotError], HTTPStatus] = {
    errors.SubmissionTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.InvalidSubmission: HTTPStatus.BAD_REQUEST,
    errors.InvalidProblem: HTTPStatus.BAD_REQUEST,
    errors.Conflict: HTTPStatus.BAD_REQUEST,
}
"""The contract differs from `/api/v1`: a mistake in a request is a 400."""

RESERVED = frozenset({"admin", "api", "auth", "bot", "health", "metrics", "ready", "user", "web"})
"""First parts of paths that are never a board's name in `POST /{board}/{device}/{mode}`."""

ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": described_error(ErrorAnswer, "What the client can correct."),
    "5XX": described_error(ErrorAnswer, "An error of the server."),
}
"""The `responses` of every route here, for OpenAPI."""


class PopcornRoute(APIRoute):
    """Answers our errors with the contract's statuses, validation errors among them."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's function with its errors translated."""
        handle = super().get_route_handler()

        async def translating(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                wrong = ErrorAnswer(detail=sentence(error), code="invalid_request")
                return JSONResponse(wrong.model_dump(), HTTPStatus.BAD_REQUEST)
            except errors.KernelbotError as error:
                return _refusal(error)

        return translating


class BoardRoute(PopcornRoute):
    """`POST /{board}/{device}/{mode}` would match any path of three parts: this leaves other paths
    and methods alone, so that they get their own 404 and 405."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """No match instead of a partial one."""
        match, child = super().matches(scope)
        board = child.get("path_params", {}).get("board", "")
        mine = match is Match.FULL and board.lower() not in RESERVED
        return (match, child) if mine else (Match.NONE, {})


def _refusal(error: errors.KernelbotError) -> JSONResponse:
    status, body = _status(error), body_of(error)
    note(error, status)
    answer = ErrorAnswer(detail=body.detail, code=body.code)
    return JSONResponse(answer.model_dump(), int(status), headers_of(error))


def _status(error: errors.KernelbotError) -> HTTPStatus:
    ours = next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), None)
    return ours or status_of(error)
