"""`GET /docs`: the OpenAPI document as one plain page."""

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from markupsafe import Markup, escape

from kernelbot.web.pages import PageDep

router = APIRouter(include_in_schema=False)

_UNTAGGED = "other"
Json = Mapping[str, Any]
Table = list[tuple[str | Markup, ...]]


@router.get("/docs")
async def docs(request: Request, page: PageDep) -> Response:
    """Every path with what it takes and answers, for people."""
    return page("docs.html", **described(request.app.openapi()))


def described(document: Json) -> dict[str, Any]:
    """What the page's template needs of an OpenAPI document."""
    by_tag: dict[str, list[dict[str, Any]]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            tag = (operation.get("tags") or [_UNTAGGED])[0]
            by_tag.setdefault(tag, []).append(_operation(method, path, operation))
    schemas = document.get("components", {}).get("schemas", {})
    return {
        "info": document["info"],
        "groups": by_tag,
        "models": [_model(name, schemas[name]) for name in sorted(schemas)],
    }


def _operation(method: str, path: str, operation: Json) -> dict[str, Any]:
    bodies = operation.get("requestBody", {}).get("content", {})
    return {
        "method": method.upper(),
        "path": path,
        "about": operation.get("description") or operation.get("summary", ""),
        "parameters": [_parameter(one) for one in operation.get("parameters", ())],
        "bodies": [(_type(body.get("schema", {})), media) for media, body in bodies.items()],
        "answers": [(status, *_answer(one)) for status, one in operation["responses"].items()],
        "tokens": _tokens(operation.get("security", ())),
    }


def _parameter(one: Json) -> tuple[str | Markup, ...]:
    need = "required" if one.get("required") else ""
    about = one.get("description", "")
    return one["name"], one["in"], _type(one.get("schema", {})), need, about


def _answer(answer: Json) -> tuple[Markup, str]:
    types = [_type(content.get("schema", {})) for content in answer.get("content", {}).values()]
    return Markup(" or ").join(filter(None, types)), answer.get("description", "")


def _tokens(security: Any) -> str:
    if not security:
        return ""
    ways = sorted({name for way in security for name in way})
    return ", ".join(ways) + (" or nothing" if {} in security else "")


def _model(name: str, schema: Json) -> dict[str, Any]:
    return {
        "name": name,
        "about": schema.get("description", ""),
        "values": ", ".join(map(str, schema.get("enum", ()))),
        "fields": list(_fields(schema)),
    }


def _fields(schema: Json) -> Iterator[tuple[str | Markup, ...]]:
    required = schema.get("required", ())
    for name, given in schema.get("properties", {}).items():
        need = "required" if name in required else ""
        yield name, _type(given), need, given.get("description", "")


def _type(schema: Json) -> Markup:
    """A schema in a few words, models as links."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return Markup('<a href="#{0}">{0}</a>').format(name)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return Markup(" or ").join(_type(one) for one in schema[key])
    if "enum" in schema:
        return escape(" or ".join(map(str, schema["enum"])))
    if schema.get("type") == "array":
        return Markup("list of {}").format(_type(schema.get("items", {})))
    return escape(schema.get("format") or schema.get("type", "anything"))
