"""`GET /docs`: the OpenAPI document as plain pages, one for each of its groups."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from markupsafe import Markup, escape

from kernelbot.domain.errors import NotFound
from kernelbot.web.pages import PageDep

router = APIRouter(include_in_schema=False)

_UNTAGGED = "other"
Json = Mapping[str, Any]


@router.get("/docs")
async def docs(request: Request, page: PageDep) -> Response:
    return page("docs.html", **contents(request.app.openapi()))


@router.get("/docs/{group}")
async def docs_of_group(request: Request, page: PageDep, group: str) -> Response:
    """What a group's paths take and answer, for people. Raises `NotFound`."""
    return page("docs_group.html", **described(request.app.openapi(), group))


def contents(document: Json) -> dict[str, Any]:
    """What the first page's template needs of an OpenAPI document."""
    return {"info": document["info"], "groups": _groups(document)}


def described(document: Json, group: str) -> dict[str, Any]:
    """What a group's template needs of an OpenAPI document: its operations, and the models that
    they and these models name. Raises `NotFound`."""
    operations = _groups(document).get(group)
    if operations is None:
        raise NotFound(f"The API has no group {group!r}.")
    schemas = document.get("components", {}).get("schemas", {})
    named = _named(schemas, (one.document for one in operations))
    return {
        "group": group,
        "operations": [_described(one) for one in operations],
        "models": [_model(name, schemas[name]) for name in sorted(named)],
    }


@dataclass(frozen=True)
class Operation:
    """A method of a path. `id` is its place on the page of its group."""

    method: str
    path: str
    document: Json

    @property
    def id(self) -> str:
        return str(self.document.get("operationId", ""))


def _groups(document: Json) -> dict[str, list[Operation]]:
    found: dict[str, list[Operation]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            tag = (operation.get("tags") or [_UNTAGGED])[0]
            found.setdefault(tag, []).append(Operation(method.upper(), path, operation))
    return found


def _named(schemas: Json, documents: Iterable[Json]) -> set[str]:
    """The models that the documents name, directly or by other models."""
    found: set[str] = set()
    waiting = list(documents)
    while waiting:
        new = set(_references(waiting.pop())) - found
        found |= new
        waiting.extend(schemas[name] for name in new)
    return found


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        if isinstance(reference := part.get("$ref"), str):
            yield _name(reference)
        for one in part.values():
            yield from _references(one)
    elif isinstance(part, list):
        for one in part:
            yield from _references(one)


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]


def _described(one: Operation) -> dict[str, Any]:
    operation = one.document
    bodies = operation.get("requestBody", {}).get("content", {})
    return {
        "id": one.id,
        "method": one.method,
        "path": one.path,
        "about": operation.get("description") or operation.get("summary", ""),
        "parameters": [_parameter(given) for given in operation.get("parameters", ())],
        "bodies": [(_type(body.get("schema", {})), media) for media, body in bodies.items()],
        "answers": [(status, *_answer(said)) for status, said in operation["responses"].items()],
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
        return Markup('<a href="#{0}">{0}</a>').format(_name(reference))
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return Markup(" or ").join(_type(one) for one in schema[key])
    if "enum" in schema:
        return escape(" or ".join(map(str, schema["enum"])))
    if schema.get("type") == "array":
        return Markup("list of {}").format(_type(schema.get("items", {})))
    return escape(schema.get("format") or schema.get("type", "anything"))
