"""What a server answers, read: the same for both clients."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import httpx
from pydantic import ValidationError

from kernelbot.client.errors import BadAnswer, Refused, Unreachable
from kernelbot.domain.errors import UserError
from kernelbot.schemas.mistakes import what_is_wrong
from kernelbot.schemas.values import from_json

if TYPE_CHECKING:  # what a command has no use for isn't loaded for it
    import ssl

    from kernelbot.platform.health.schemas import ReadyView

Model = TypeVar("Model")
_NOT_READY = 503


@contextmanager
def talking(url: str) -> Iterator[None]:
    """What goes wrong with the connection in this block is raised as `Unreachable`, an answer that
    isn't packed as it says as `BadAnswer`, and what can't be sent as `UserError`."""
    try:
        yield
    except httpx.TransportError as error:
        why = str(error) or type(error).__name__
        raise Unreachable(
            f"The server at {url} can't be reached: {why}.",
            hint="Is it running (`kernelbot serve`)? Is KERNELBOT_URL right?",
        ) from error
    except httpx.DecodingError as error:
        raise BadAnswer(
            f"The answer of {url} can't be unpacked: {error}.",
            hint="Is it a KernelBot server? A proxy before it may be wrong.",
        ) from error
    except httpx.InvalidURL as error:
        raise Unreachable(f"{url} is not a URL that can be asked: {error}.") from error
    except UnicodeEncodeError as error:
        raise unsendable(error.object) from None


def unsendable(text: str) -> UserError:
    """The error for text that isn't Unicode: a terminal gives that for bytes that aren't UTF-8."""
    return UserError(f"{text!r} isn't text in UTF-8.")


def credentials(token: str | None) -> dict[str, str]:
    """The header that says who asks. Raises `UserError` for what no header can hold."""
    if not token:
        return {}
    if not (token.isascii() and token.isprintable()):
        raise UserError(
            "This can't be a token: it contains characters that no token has.",
            hint="See KERNELBOT_TOKEN, or log in again.",
        )
    return {"Authorization": f"Bearer {token}"}


def trusted(url: str) -> "ssl.SSLContext | bool":
    """What httpx is to believe a server by (`verify`). Reading the certificates of all authorities
    takes longer than a command does. So for a server without encryption there are none: what is
    encrypted would be refused."""
    if url.lower().startswith("https:"):
        return True
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def answer(model: type[Model], response: httpx.Response) -> Model:
    """The answer as `model`. Raises `Refused` and `BadAnswer`."""
    expect_success(response)
    return parse(model, response.content)


def expect_success(response: httpx.Response) -> None:
    """Raises `Refused`."""
    if not response.is_success:
        raise refusal(response)


def read_ready(response: httpx.Response) -> "ReadyView":
    """Whether a server is ready: a server that isn't says so in a refusal."""
    from kernelbot.platform.health.schemas import ReadyView

    if response.status_code == _NOT_READY:
        return parse(ReadyView, response.content)
    return answer(ReadyView, response)


def size_of(file: Path, _response: httpx.Response) -> int:
    """The size in bytes of what was written."""
    return file.stat().st_size


@contextmanager
def draft_of(file: Path) -> Iterator[Path]:
    """A path to write to in this block, which becomes `file` at its end; removed if it fails.
    Raises `UserError` if it can't be written."""
    draft = file.with_name(f".{file.name}.part")
    try:
        yield draft
        draft.replace(file)
    except OSError as error:
        raise UserError(f"{file} can't be written: {error.strerror}.") from None
    finally:
        draft.unlink(missing_ok=True)


def parse(model: type[Model], text: str | bytes) -> Model:
    """Raises `BadAnswer`."""
    try:
        return from_json(model, text)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "it"
        raise BadAnswer(
            f"The server's answer is not a {model.__name__}: {key} {what_is_wrong(first)}.",
            hint="Is it a KernelBot server, and as new as this client?",
        ) from error


def refusal(response: httpx.Response) -> Refused:
    """The error that a server answered with."""
    from kernelbot.schemas.errors import ErrorBody

    try:
        body = ErrorBody.model_validate_json(response.content)
    except ValidationError:
        detail = f"The server answered {response.status_code} {response.reason_phrase}."
        body = ErrorBody(detail=detail, code="bad_answer")
    return Refused(response.status_code, body)
