"""The application's OpenAPI document."""

from typing import Any

from fastapi import FastAPI

from kernelbot.api.dependencies import WAYS_IN


class Documented(FastAPI):
    """Adds the ways to authenticate at each route below `prefix` that may need a token."""

    def __init__(self, *, prefix: str, **given: Any) -> None:
        super().__init__(**given)
        self._prefix = prefix

    def openapi(self) -> dict[str, Any]:
        """The schema, made once."""
        if self.openapi_schema is None:
            _name_ways_in(super().openapi(), self._prefix)
        assert self.openapi_schema is not None
        return self.openapi_schema


def _name_ways_in(schema: dict[str, Any], prefix: str) -> None:
    schema["components"].setdefault("securitySchemes", {}).update(WAYS_IN)
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            if path.startswith(prefix) and "401" in operation["responses"]:
                others = operation.get("security", [])
                operation["security"] = [*({name: []} for name in WAYS_IN), *others]
