"""The bodies of requests: documents, and what is sent of them and of forms without httpx."""

import io
import json
import os
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from kernelbot.domain.errors import UserError
from kernelbot.domain.plain_values import Unclear, plain

if TYPE_CHECKING:
    from kernelbot.schemas.common import RequestBody

_PIECE_BYTES = 65536
_IN_QUOTES = str.maketrans(
    {'"': "%22", "\\": "\\\\"}
    | {number: f"%{number:02X}" for number in range(0x20) if number != 0x1B}
)
"""What the HTML standard has browsers write for what a quoted name can't hold."""


class Body:
    """What a request carries. `pieces` may be gone through again: a request is repeated if its
    token was replaced."""

    def __init__(self, kind: str, parts: "list[bytes | IO[bytes]]") -> None:
        self._parts = [
            (one, len(one) if isinstance(one, bytes) else _bytes_in(one)) for one in parts
        ]
        length = sum(length for _, length in self._parts)
        self.headers = {"Content-Type": kind, "Content-Length": str(length)}

    def pieces(self) -> Iterator[bytes]:
        """As much of it as `headers` say: of a file that grows meanwhile, what was there. Raises
        `UserError` for one that has become shorter, of which a server would await the rest."""
        for part, length in self._parts:
            if isinstance(part, bytes):
                yield part
                continue
            part.seek(0)
            left = length
            while left:
                piece = part.read(min(left, _PIECE_BYTES))
                if not piece:
                    raise UserError("A file became shorter while it was sent.", hint="Try again.")
                left -= len(piece)
                yield piece


def document_of(body: "RequestBody") -> Any:
    """A body as what `json.dumps` takes. Raises pydantic's `ValidationError` for what a server
    would refuse."""
    try:
        return plain(body)
    except Unclear:
        from kernelbot.schemas.values import checked

        return checked(body)


def body_of(
    given: object, fields: Mapping[str, Any] | None, files: Mapping[str, Any] | None
) -> Body | None:
    """JSON if `given` is any, else a form; None: the request has no body."""
    if given is not None:
        text = json.dumps(given, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return Body("application/json", [text.encode()])
    return _form(fields or {}, files) if files else None


def plain_pairs(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and values of a query or form, as text; one pair for each value of a list."""
    for name, value in values.items():
        for one in value if isinstance(value, list | tuple) else (value,):
            yield name, str(one).lower() if isinstance(one, bool) else str(one)


def _form(fields: Mapping[str, Any], files: Mapping[str, tuple[str, Any, str]]) -> Body:
    boundary = os.urandom(16).hex()
    begin = f"--{boundary}\r\nContent-Disposition: form-data; name="
    parts: list[bytes | IO[bytes]] = [
        f"{begin}{_quoted(name)}\r\n\r\n{text}\r\n".encode() for name, text in plain_pairs(fields)
    ]
    for name, (file_name, content, kind) in files.items():
        head = f"{begin}{_quoted(name)}; filename={_quoted(file_name)}\r\nContent-Type: {kind}"
        parts += [f"{head}\r\n\r\n".encode(), content, b"\r\n"]
    parts.append(f"--{boundary}--\r\n".encode())
    return Body(f"multipart/form-data; boundary={boundary}", parts)


def _quoted(name: str) -> str:
    return f'"{name.translate(_IN_QUOTES)}"'


def _bytes_in(file: IO[bytes]) -> int:
    return file.seek(0, io.SEEK_END)
