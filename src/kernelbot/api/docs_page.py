"""`GET /docs`: the OpenAPI document as one plain page. It loads nothing, from here or elsewhere."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter()

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
_STYLE = """\
:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:2.5rem}
details{border-bottom:1px solid #8884;padding:.4rem 0}
summary{cursor:pointer}
summary b{display:inline-block;min-width:4.5rem}
code{background:#8882;padding:.1rem .3rem;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;margin:.5rem 0}
td,th{border-bottom:1px solid #8884;padding:.3rem .8rem .3rem 0;text-align:left;vertical-align:top}
"""
_UNTAGGED = "other"

Json = Mapping[str, Any]


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    """Every path with what it takes and answers, for people."""
    return HTMLResponse(render(request.app.openapi()), headers=_HEADERS)


def render(document: Json) -> str:
    """The page of an OpenAPI document."""
    info = document["info"]
    title = f"{info['title']} {info['version']}"
    by_tag: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            tag = (operation.get("tags") or [_UNTAGGED])[0]
            by_tag.setdefault(tag, []).append(_operation(method, path, operation))
    schemas = document.get("components", {}).get("schemas", {})
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f"<h1>{escape(title)}</h1><p>{escape(info.get('summary', ''))} "
        '<a href="/openapi.json">The same as OpenAPI, for programs.</a></p>'
        + "".join(f"<h2>{escape(tag)}</h2>{''.join(found)}" for tag, found in by_tag.items())
        + "<h2>Models</h2>"
        + "".join(_model(name, schemas[name]) for name in sorted(schemas))
        + "</html>"
    )


def _operation(method: str, path: str, operation: Json) -> str:
    text = operation.get("description") or operation.get("summary", "")
    parts = [f"<p>{escape(text)}</p>"]
    if parameters := operation.get("parameters"):
        rows = (
            (one["name"], f"in {one['in']}", _type(one.get("schema", {})), _need(one))
            for one in parameters
        )
        parts.append(_table(("parameter", "", "type", ""), rows))
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"<p>Body: {_type(body.get('schema', {}))} as {escape(media)}</p>")
    answers = ((status, *_answer(answer)) for status, answer in operation["responses"].items())
    parts.append(_table(("status", "answer", "meaning"), answers))
    if operation.get("security"):
        ways = sorted({name for way in operation["security"] for name in way})
        free = " or nothing" if {} in operation["security"] else ""
        parts.append(f"<p>Token: {escape(', '.join(ways))}{free}.</p>")
    summary = f"<summary><b>{escape(method.upper())}</b> <code>{escape(path)}</code></summary>"
    return f"<details>{summary}{''.join(parts)}</details>"


def _answer(answer: Json) -> tuple[str, str]:
    types = [_type(content.get("schema", {})) for content in answer.get("content", {}).values()]
    return " or ".join(filter(None, types)), escape(answer.get("description", ""))


def _model(name: str, schema: Json) -> str:
    required = schema.get("required", ())
    rows: Iterator[tuple[str, ...]] = (
        (
            field,
            _type(given),
            "required" if field in required else "",
            escape(given.get("description", "")),
        )
        for field, given in schema.get("properties", {}).items()
    )
    values = ", ".join(map(str, schema.get("enum", ())))
    body = f"<p>One of: {escape(values)}</p>" if values else _table(("field", "type", "", ""), rows)
    about = f"<p>{escape(schema.get('description', ''))}</p>"
    anchor = escape(name, quote=True)
    return (
        f'<details id="{anchor}" open><summary><code>{escape(name)}</code></summary>'
        f"{about}{body}</details>"
    )


def _type(schema: Json) -> str:
    """A schema in a few words, models as links."""
    if reference := schema.get("$ref"):
        name = escape(reference.rpartition("/")[2], quote=True)
        return f'<a href="#{name}">{name}</a>'
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(_type(one) for one in schema[key])
    if "enum" in schema:
        return escape(" or ".join(map(str, schema["enum"])))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return escape(str(schema.get("format") or schema.get("type", "anything")))


def _need(parameter: Json) -> str:
    return "required" if parameter.get("required") else escape(parameter.get("description", ""))


def _table(heads: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    """Rows of HTML; the first cell is a name and set as code."""
    lines = [
        f"<tr><td><code>{escape(first)}</code>" + "".join(f"<td>{cell}" for cell in rest)
        for first, *rest in rows
    ]
    head = "".join(f"<th>{name}" for name in heads)
    return f"<table><tr>{head}{''.join(lines)}</table>" if lines else ""
