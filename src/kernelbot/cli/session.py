"""The server that a command talks to."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelbot.client import KernelbotClient


def connect(url: str | None) -> "KernelbotClient":
    """A client for the server that is found; use it in a `with` block."""
    from kernelbot.client import KernelbotClient, find_endpoint

    return KernelbotClient.to(find_endpoint(url))
