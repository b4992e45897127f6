"""The server that a command talks to."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kernelbot.domain.errors import UserError

if TYPE_CHECKING:
    from kernelbot.client import KernelbotClient


@contextmanager
def connect(url: str | None) -> "Iterator[KernelbotClient]":
    """A client for the server that is found. Within the block, what the server would refuse to
    read (a name that is too long, a number out of bounds) is a `UserError`."""
    from pydantic import ValidationError

    from kernelbot.client import KernelbotClient, find_endpoint

    with KernelbotClient.to(find_endpoint(url)) as client:
        try:
            yield client
        except ValidationError as error:
            mistake = error.errors()[0]
            key = ".".join(str(part) for part in mistake["loc"])
            raise UserError(f"{key}: {mistake['msg']}.") from None
