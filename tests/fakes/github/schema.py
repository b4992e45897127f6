"""What GitHub's OpenAPI description (2022-11-28) says of the routes that we use, as far as it
matters: what a request may have, and what an answer must. A dot leads into an object, `[]` into a
list."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.serving import Request, Response

_STATUS = [
    "completed",
    "action_required",
    "cancelled",
    "failure",
    "neutral",
    "skipped",
    "stale",
    "success",
    "timed_out",
    "in_progress",
    "queued",
    "requested",
    "waiting",
    "pending",
]
_CONCLUSION = [
    "success",
    "failure",
    "neutral",
    "cancelled",
    "skipped",
    "timed_out",
    "action_required",
    "startup_failure",
    "stale",
]
_WORKFLOW = [
    "active",
    "deleted",
    "disabled_fork",
    "disabled_inactivity",
    "disabled_manually",
]
_DATES = "created_at updated_at "
_RUN = (
    "id node_id head_branch head_sha path run_number event display_title status conclusion "
    "workflow_id url html_url pull_requests jobs_url logs_url check_suite_url artifacts_url "
    "cancel_url rerun_url workflow_url head_commit repository head_repository " + _DATES
).split()
_JOB = [
    "id",
    "run_id",
    "run_url",
    "node_id",
    "head_sha",
    "url",
    "html_url",
    "status",
    "conclusion",
    "created_at",
    "started_at",
    "completed_at",
    "name",
    "check_run_url",
    "labels",
    "runner_id",
    "runner_name",
    "runner_group_id",
    "runner_group_name",
    "workflow_name",
    "head_branch",
]
_ARTIFACT = (
    "id node_id name size_in_bytes url archive_download_url expired expires_at " + _DATES
).split()


@dataclass(frozen=True)
class Operation:
    """One route. `required`: the answer's fields by where they are; those that may be null are in
    `nullable`, and what the others may be in `enums`."""

    method: str
    path: str
    status: int
    required: dict[str, list[str]] = field(default_factory=dict)
    nullable: frozenset[str] = frozenset()
    enums: dict[str, list[str]] = field(default_factory=dict)
    query: frozenset[str] = frozenset()
    body: frozenset[str] = frozenset()


_REPO = r"/repos/[^/]+/[^/]+/actions"
_NULL_IN_RUN = frozenset(["head_branch", "status", "conclusion", "pull_requests", "head_commit"])
_PAGED = frozenset(("per_page", "page"))
_OF_RUN = {"status": _STATUS, "conclusion": _CONCLUSION}
OPERATIONS = (
    Operation(
        "POST",
        rf"{_REPO}/workflows/[^/]+/dispatches",
        200,
        {"": ["workflow_run_id", "run_url", "html_url"]},
        body=frozenset(("ref", "inputs", "return_run_details")),
    ),
    Operation(
        "GET",
        rf"{_REPO}/workflows/[^/]+",
        200,
        {
            "": [
                "id",
                "node_id",
                "name",
                "path",
                "state",
                "url",
                "html_url",
                "badge_url",
                *_DATES.split(),
            ]
        },
        enums={"state": _WORKFLOW},
    ),
    Operation(
        "GET",
        rf"{_REPO}/runs",
        200,
        {"": ["total_count", "workflow_runs"], "workflow_runs[]": _RUN},
        _NULL_IN_RUN,
        _OF_RUN,
        query=_PAGED | {"event", "status"},
    ),
    Operation("GET", rf"{_REPO}/runs/\d+", 200, {"": _RUN}, _NULL_IN_RUN, _OF_RUN),
    Operation(
        "GET",
        rf"{_REPO}/runs/\d+/jobs",
        200,
        {
            "": ["total_count", "jobs"],
            "jobs[]": _JOB,
            "jobs[].steps[]": ["name", "status", "conclusion", "number"],
        },
        frozenset(
            [
                "conclusion",
                "completed_at",
                "runner_id",
                "runner_name",
                "runner_group_id",
                "runner_group_name",
                "workflow_name",
                "head_branch",
                "html_url",
            ]
        ),
        {"status": _STATUS, "conclusion": _CONCLUSION},
        query=_PAGED,
    ),
    Operation(
        "GET",
        rf"{_REPO}/runs/\d+/artifacts",
        200,
        {"": ["total_count", "artifacts"], "artifacts[]": _ARTIFACT},
        frozenset(("created_at", "updated_at", "expires_at")),
        query=_PAGED,
    ),
    Operation("GET", rf"{_REPO}/artifacts/\d+/zip", 302),
    Operation("POST", rf"{_REPO}/runs/\d+/cancel", 202),
    Operation("DELETE", rf"{_REPO}/runs/\d+", 204),
    Operation(
        "GET",
        rf"{_REPO}/runners",
        200,
        {
            "": ["total_count", "runners"],
            "runners[]": ["id", "name", "os", "status", "busy", "labels"],
            "runners[].labels[]": ["name"],
        },
        query=_PAGED | {"name"},
    ),
)


def mistakes(request: Request, response: Response) -> list[str]:
    """Where an exchange isn't as the description has it; of refusals only the request counts."""
    found = [
        one
        for one in OPERATIONS
        if one.method == request.method and re.fullmatch(one.path, request.path)
    ]
    if not found:
        return [f"there is no {request.method} {request.path}"]
    (known,) = found
    wrong = [f"unknown in the query: {name}" for name in request.query.keys() - known.query]
    asked = json.loads(request.body) if request.body else {}
    wrong += [f"unknown in the body: {name}" for name in asked.keys() - known.body]
    if response.status >= 400 or (known.body and response.status == 204):
        return wrong
    if response.status != known.status:
        return [*wrong, f"{response.status} instead of {known.status}"]
    document = json.loads(response.body) if known.required else None
    for where, names in known.required.items():
        for one in _at(document, where):
            wrong += [f"{where}: no {name}" for name in names if name not in one]
            wrong += [
                f"{where}.{name} is null"
                for name in names
                if name in one and one[name] is None and name not in known.nullable
            ]
            wrong += [
                f"{where}.{name} is {one[name]!r}"
                for name in names
                if name in known.enums
                and one.get(name) is not None
                and one[name] not in known.enums[name]
            ]
    return wrong


def _at(document: Any, where: str) -> list[dict[str, Any]]:
    found = [document]
    for name in filter(None, where.split(".")):
        inner = [each.get(name.removesuffix("[]"), []) for each in found]
        found = [one for each in inner for one in each] if name.endswith("[]") else inner
    return found
