"""The one table from errors to HTTP. Every error body is an `ErrorBody`, on every path."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from kernelbot.domain import errors
from kernelbot.domain.next_steps import Next
from kernelbot.schemas.errors import ErrorBody
from kernelbot.schemas.mistakes import what_is_wrong

log = structlog.get_logger(__name__)

STATUS: dict[type[errors.KernelbotError], HTTPStatus] = {
    errors.UserError: HTTPStatus.BAD_REQUEST,
    errors.InvalidSubmission: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.SubmissionTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.InvalidProblem: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.NotAuthenticated: HTTPStatus.UNAUTHORIZED,
    errors.NotAllowed: HTTPStatus.FORBIDDEN,
    errors.LinkExpired: HTTPStatus.GONE,
    errors.DeviceNotOffered: HTTPStatus.BAD_REQUEST,
    errors.DeviceUnavailable: HTTPStatus.CONFLICT,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.TooManyRequests: HTTPStatus.TOO_MANY_REQUESTS,
    errors.Paused: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.SchemaOutdated: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.SchedulerError: HTTPStatus.BAD_GATEWAY,
    errors.KernelbotError: HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""An error not named here has the status of its nearest ancestor that is."""

ADVICE: dict[Next, str] = {
    Next.TRY_AGAIN: "Try again in a moment.",
    Next.BEGIN_AGAIN: "Ask what there is now, then send a new request.",
    Next.LOG_IN: "Send a valid token as `Authorization: Bearer TOKEN`.",
    Next.ASK_ADMIN: "Ask an admin.",
    Next.ASK_ORGANISERS: "Ask the organisers.",
    Next.CHOOSE_ANOTHER_NAME: "Choose another name.",
    Next.NAME_BOARD: "Send `board`, or write `#!POPCORN leaderboard NAME` at the top of the file.",
    Next.LIST_BOARDS: "See `GET /api/v1/boards`.",
    Next.LIST_SUBMISSIONS: "See `GET /api/v1/submissions`.",
    Next.SHOW_SUBMISSION: "See `GET /api/v1/submissions/{submission_id}`.",
    Next.CANCEL_SUBMISSION: (
        "Wait for one, or cancel one: `POST /api/v1/submissions/{submission_id}/cancel`."
    ),
    Next.LIST_ARTIFACTS: "See `GET /api/v1/submissions/{submission_id}/artifacts`.",
    Next.LIST_USERS: "See `GET /api/v1/users`.",
    Next.LIST_IDENTITIES: "See `GET /api/v1/users/me/identities`.",
    Next.LIST_TOKENS: "See `GET /api/v1/tokens`.",
    Next.REVOKE_TOKENS: "Revoke some: `DELETE /api/v1/tokens/{token_id}`.",
    Next.LIST_INVITES: "See `GET /api/v1/boards/{board}/invites`.",
    Next.LIST_WEBHOOKS: "See `GET /api/v1/webhooks`.",
    Next.DELETE_WEBHOOKS: "Delete some: `DELETE /api/v1/webhooks/{webhook_id}`.",
    Next.REPLACE_WEBHOOK: (
        "If its secret is lost, delete it first: `DELETE /api/v1/webhooks/{webhook_id}`."
    ),
    Next.ENABLE_WEBHOOK: "Enable it first: `POST /api/v1/webhooks/{webhook_id}/enable`.",
    Next.SHOW_WEBHOOK_LOG: "See `GET /api/v1/webhooks/{webhook_id}/messages`.",
    Next.LIST_SIGNING_KEYS: "See `GET /api/v1/signing-keys`.",
    Next.CHANGE_CHAT_SETTINGS: "In Discord, `/admin settings` changes that.",
    Next.MIGRATE_DATABASE: "Its operator migrates it: `kernelbot db migrate`.",
    Next.FORCE: "With `force=true` they are deleted as well.",
}
"""What to do next, for those who use the API."""

ROUTER_CODES: dict[int, tuple[str, str]] = {
    400: ("bad_request", "The request's body can't be read."),
    404: ("not_found", "There is nothing at this path; see /docs for what there is."),
    405: ("method_not_allowed", "This path doesn't take this method."),
    413: ("body_too_large", "The request's body is too large."),
}


def status_of(error: errors.KernelbotError) -> HTTPStatus:
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def error_response(
    status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """An `ErrorBody` that asks for nothing but what its sentence says, with its status."""
    body = ErrorBody(detail=detail, code=code, message=detail, next=None, hint="")
    return JSONResponse(vars(body), status_code=int(status), headers=headers)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that can fail in these ways, for OpenAPI. Where a token may be
    wrong, too many may be."""
    too_many = {HTTPStatus.TOO_MANY_REQUESTS} if HTTPStatus.UNAUTHORIZED in statuses else set()
    return {
        int(status): described_error(ErrorBody, HTTPStatus(status).phrase)
        for status in sorted({*statuses, *too_many})
    }


def described_error(body: type, description: str) -> dict[str, Any]:
    """One of a route's `responses`: FastAPI would read and check the class anew for each of them,
    five hundred times. `Documented` adds the class itself."""
    schema = {"$ref": f"#/components/schemas/{body.__name__}"}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def install(app: FastAPI) -> None:
    """Answer every error with the table."""
    for kind in (errors.KernelbotError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, response_to)


async def response_to(_request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, errors.KernelbotError):
        return _refusal(error)
    if isinstance(error, RequestValidationError):
        detail = sentence(error)
        return error_response(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request", detail)
    if isinstance(error, HTTPException):
        return _router(error)
    return _unforeseen(error)


def body_of(error: errors.KernelbotError) -> ErrorBody:
    """What a program and a person read of an error of ours."""
    message, hint = str(error), error.advice(ADVICE)
    return ErrorBody(
        detail=f"{message} {hint}".rstrip(),
        code=error.code,
        message=message,
        next=error.next_step,
        hint=hint,
    )


def note(error: errors.KernelbotError, status: HTTPStatus) -> None:
    """Log an error that isn't the asker's, nor what organisers have decided."""
    if isinstance(error, errors.Paused):
        return
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        cause = repr(error.__cause__) if error.__cause__ else None
        log.error("request_failed", code=error.code, detail=str(error), cause=cause)


def _refusal(error: errors.KernelbotError) -> JSONResponse:
    status = status_of(error)
    note(error, status)
    return JSONResponse(vars(body_of(error)), int(status), headers_of(error))


def headers_of(error: errors.KernelbotError) -> dict[str, str]:
    if isinstance(error, errors.TooManyRequests | errors.Unavailable):
        return {"Retry-After": str(max(1, round(error.retry_after_s)))}
    if isinstance(error, errors.NotAuthenticated):
        return {"WWW-Authenticate": "Bearer"}
    return {}


def sentence(error: RequestValidationError) -> str:
    """Where the first mistake of a request is, and what it is."""
    first = error.errors()[0]
    place, *path = (str(part) for part in first["loc"])
    name = ".".join(path) or place
    return f"{name} (in the {place}): {what_is_wrong(first)}."


def _router(error: HTTPException) -> JSONResponse:
    phrase = HTTPStatus(error.status_code).phrase
    word = phrase.lower().replace(" ", "_")
    code, detail = ROUTER_CODES.get(error.status_code, (word, f"{phrase}."))
    return error_response(error.status_code, code, detail, error.headers)


def _unforeseen(error: Exception) -> JSONResponse:
    log.error("request_crashed", exc_info=error)
    return error_response(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "internal_error",
        "Something broke on our side; the request was fine. Please try again later.",
    )
