"""The application's OpenAPI document."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.models import Schema

from kernelbot.api.dependencies import WAYS_IN
from kernelbot.api.popcorn.models import ErrorAnswer
from kernelbot.schemas.errors import ErrorBody
from kernelbot.schemas.values import adapter

_SCHEMAS: Final = "#/components/schemas/"
_BOARDS: Final = "kernelbot__boards__"
NAMES: Final = {
    "AuditEntry": "AuditEntryView",
    "DeviceStatistics": "DeviceStatisticsView",
    "DeviceStatus": "DeviceView",
    "Diagnostic": "DiagnosticView",
    "Duel": "DuelView",
    "Evidence": "EvidenceView",
    "Exported": "ExportView",
    "Figures": "KernelFiguresView",
    "Identity": "IdentityView",
    "Invite": "InviteView",
    "IssuedToken": "IssuedTokenView",
    "Kernel": "CompiledKernelView",
    "LauncherHealth": "LauncherHealthView",
    "Me": "UserView",
    "NamedBoard": "BoardView",
    "NewAccount": "NewUserView",
    "NewInvites": "NewInvitesView",
    "NewWebhook": "NewWebhookView",
    "NotRanked": "NotRankedView",
    "Occupancy": "OccupancyView",
    "PlatformState": "PlatformView",
    "Preflight": "PreflightView",
    "RateLimit": "LimitView",
    "Ratio": "RatioView",
    "ReadinessPart": "PartView",
    "Rejudge": "RejudgeView",
    "RejudgedRun": "RejudgedRunView",
    "RunFile": "ArtifactEntry",
    "SigningKey": "SigningKeyView",
    "Standing": "StandingView",
    "StandingsPage": "StandingsView",
    "Statement": "ProblemView",
    "Statistics": "StatisticsView",
    "SyncItem": "SyncItemView",
    "SyncOutcome": "SyncView",
    "Token": "TokenView",
    "User": "AccountView",
    "Webhook": "WebhookView",
    "WebhookMessage": "WebhookMessageView",
    "PreflightReport": "PreflightReportView",
    "ResultView": "Report",
    "Artifact": "ArtifactView",
    "CaseResult": "CaseView",
    "CompileReport": "CompileView",
    "Failure": "ErrorView",
    "SandboxReport": "SandboxView",
    "SystemInfo": "SystemView",
    f"{_BOARDS}invites__answers__InviteList": f"{_BOARDS}invites__schemas__InviteList",
    f"{_BOARDS}limits__answers__LimitList": f"{_BOARDS}limits__schemas__LimitList",
}
"""Components by the names of the classes that they are made of. Clients that were generated from
the document of an earlier release know them by these."""


_ERRORS: Final[tuple[type, ...]] = (ErrorBody, ErrorAnswer)
"""What `described_error` refers to."""


class Documented(FastAPI):
    """Adds the ways to authenticate at each route below `prefix` that may need a token."""

    def __init__(self, *, prefix: str, **given: Any) -> None:
        super().__init__(**given)
        self._prefix = prefix

    def openapi(self) -> dict[str, Any]:
        """The schema, made once."""
        if self.openapi_schema is None:
            made = super().openapi()
            for body in _ERRORS:
                schema = Schema(**adapter(body).json_schema(mode="serialization"))
                plain = schema.model_dump(mode="json", by_alias=True, exclude_none=True)
                made["components"]["schemas"][body.__name__] = plain
            _name_ways_in(made, self._prefix)
            self.openapi_schema = _with_known_names(made)
        return self.openapi_schema


def _name_ways_in(schema: dict[str, Any], prefix: str) -> None:
    schema["components"].setdefault("securitySchemes", {}).update(WAYS_IN)
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            if path.startswith(prefix) and "401" in operation["responses"]:
                others = operation.get("security", [])
                operation["security"] = [*({name: []} for name in WAYS_IN), *others]


def _with_known_names(document: dict[str, Any]) -> dict[str, Any]:
    """The document with components called as in `NAMES`."""
    schemas = document["components"]["schemas"]
    for name in NAMES.keys() & schemas.keys():
        schemas[name]["title"] = NAMES[name].rpartition("__")[2]
    known = {NAMES.get(name, name): schema for name, schema in schemas.items()}
    document["components"]["schemas"] = dict(sorted(known.items()))
    renamed: dict[str, Any] = _with_known_references(document)
    return renamed


def _with_known_references(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _with_known_references(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_with_known_references(value) for value in part]
    if isinstance(part, str) and part.startswith(_SCHEMAS):
        name = part.removeprefix(_SCHEMAS)
        return _SCHEMAS + NAMES.get(name, name)
    return part
