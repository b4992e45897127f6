"""What a server answers, read: the same for both clients."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kernelbot.client.errors import BadAnswer, Refused, Unreachable
from kernelbot.domain.errors import UserError
from kernelbot.domain.plain_values import Unclear, read
from kernelbot.protocol.os_errors import in_words

if TYPE_CHECKING:  # what a command has no use for isn't loaded for it
    from kernelbot.platform.health.schemas import ReadyView

Model = TypeVar("Model")
_NOT_READY = 503
_AROUND = 40
_IS_IT_THERE = "Is it a KernelBot server? A proxy before it may be wrong."


class Headers(Protocol):
    """What is read of an answer's headers."""

    def get(self, name: str, default: str, /) -> Any:
        """The one of this name, in any case."""


class Received(Protocol):
    """What is read of an answer: httpx's have it, and those of `direct`."""

    @property
    def status_code(self) -> int:
        """HTTP's."""

    @property
    def reason_phrase(self) -> str:
        """The status in words."""

    @property
    def headers(self) -> Headers:
        """What the answer says of itself."""

    @property
    def is_success(self) -> bool:
        """Whether the server did what it was asked."""

    @property
    def content(self) -> bytes:
        """All of the body."""

    @property
    def text(self) -> str:
        """The same as text."""


def unreachable(url: str, why: object) -> Unreachable:
    """The error for a connection that isn't made, or breaks."""
    return Unreachable(
        f"The server at {url} can't be reached: {str(why) or type(why).__name__}.",
        hint="Is it running (`kernelbot serve`)? Is KERNELBOT_URL right?",
    )


def packed_wrongly(url: str, why: object) -> BadAnswer:
    """The error for an answer that isn't packed as it says."""
    return BadAnswer(
        f"The answer of {url} can't be unpacked: {why}.",
        hint=_IS_IT_THERE,
    )


def no_url(url: str, why: object) -> Unreachable:
    """The error for what isn't the address of a server."""
    return Unreachable(f"{url} is not a URL that can be asked: {why}.")


def misconfigured(url: str, error: Exception) -> UserError:
    """The error for a proxy or for authorities that this machine names, and that can't be used."""
    why = in_words(error).rstrip(".")
    return UserError(
        f"What this machine says about reaching {url} can't be used: {why}.",
        hint="See HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR.",
    )


def unsendable(error: UnicodeEncodeError) -> UserError:
    """The error for text that isn't Unicode: a terminal gives that for bytes that aren't UTF-8. Of
    a long text, such as a problem's, only what is around the place is shown."""
    begin = max(0, error.start - _AROUND)
    shown = error.object[begin : error.end + _AROUND]
    return UserError(f"{shown!r} isn't text in UTF-8.")


def answer(model: type[Model], response: Received) -> Model:
    """The answer as `model`. Raises `Refused` and `BadAnswer`."""
    expect_success(response)
    return parse(model, response.content)


def expect_success(response: Received) -> None:
    """Raises `Refused`, also for an answer that only names another address; and `BadAnswer` for a
    page: a proxy that has somebody log in first answers with one, as if all were well."""
    if not response.is_success:
        raise refusal(response)
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind == "text/html":
        raise BadAnswer("A page for browsers came instead of an answer.", hint=_IS_IT_THERE)


def read_ready(response: Received) -> "ReadyView":
    """Whether a server is ready: a server that isn't says so in a refusal."""
    from kernelbot.platform.health.schemas import ReadyView

    if response.status_code == _NOT_READY:
        return parse(ReadyView, response.content)
    return answer(ReadyView, response)


def size_of(file: Path, _response: Received) -> int:
    """The size in bytes of what was written."""
    return file.stat().st_size


@contextmanager
def written_to(file: Path) -> Iterator[Callable[[bytes], None]]:
    """What writes a piece in this block. All of them become `file` at its end, and nothing of it if
    that fails. Raises `UserError` if they can't be written: what else fails in the block, as the
    connection that they come by, isn't the file's fault."""
    draft = file.with_name(f".{file.name}.part")
    with _writing(file):
        opened = draft.open("wb")

    def write(piece: bytes) -> None:
        with _writing(file):
            opened.write(piece)

    try:
        yield write
        with _writing(file):
            opened.close()
            draft.replace(file)
    finally:
        with suppress(OSError):  # what is left to write, on a full disk
            opened.close()
        draft.unlink(missing_ok=True)


@contextmanager
def _writing(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(f"{file} can't be written: {error.strerror}.") from None


def parse(model: type[Model], text: str | bytes) -> Model:
    """Raises `BadAnswer`."""
    try:
        return read(model, text)
    except Unclear:
        return _validated(model, text)


def _validated(model: type[Model], text: str | bytes) -> Model:
    """By pydantic, which knows all types, and what is wrong with a value."""
    from pydantic import ValidationError

    from kernelbot.schemas.mistakes import what_is_wrong
    from kernelbot.schemas.values import from_json

    try:
        return from_json(model, text)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "it"
        raise BadAnswer(
            f"The server's answer is not a {model.__name__}: {key} {what_is_wrong(first)}.",
            hint="Is it a KernelBot server, and as new as this client?",
        ) from error


def refusal(response: Received) -> Refused:
    """The error that a server answered with."""
    from kernelbot.schemas.errors import ErrorBody

    try:
        body = parse(ErrorBody, response.content)
    except BadAnswer:
        place = response.headers.get("Location", "") if _names_a_place(response) else ""
        detail = f"The server answered {response.status_code} {response.reason_phrase}"
        detail += f": {place}" if place else "."
        hint = "Is the server's address another one, with https perhaps?" if place else _IS_IT_THERE
        body = ErrorBody(detail=detail, code="bad_answer", hint=hint)
    return Refused(response.status_code, body)


def _names_a_place(response: Received) -> bool:
    return 300 <= response.status_code < 400
