"""The typed HTTP clients, for the terminal, for tests and for anyone's program.

from kernelbot.client import KernelbotClient, find_endpoint

with KernelbotClient.to(find_endpoint()) as client:
    submission = client.submit("sort.py", source, board="sort")
    for event in client.events(submission.id):
        print(event.kind, event.data)

`AsyncKernelbotClient` has the same methods, to be awaited. Each is loaded when it is named: asyncio
would take each command a tenth of its start.
"""

from typing import TYPE_CHECKING

from kernelbot.protocol.loading import lazily

if TYPE_CHECKING:  # the same as `_HOMES`, for what reads the sources
    from kernelbot.client.asynchronous import AsyncKernelbotClient
    from kernelbot.client.endpoint import Endpoint, find_endpoint
    from kernelbot.client.errors import BadAnswer, Refused, Unreachable
    from kernelbot.client.http import KernelbotClient

__all__ = [
    "AsyncKernelbotClient",
    "BadAnswer",
    "Endpoint",
    "KernelbotClient",
    "Refused",
    "Unreachable",
    "find_endpoint",
]
_HOMES = {
    "asynchronous": ("AsyncKernelbotClient",),
    "endpoint": ("Endpoint", "find_endpoint"),
    "errors": ("BadAnswer", "Refused", "Unreachable"),
    "http": ("KernelbotClient",),
}
"""The names of each module that are ours to give: whoever looks for a server needs no HTTP."""
if not TYPE_CHECKING:  # else a misspelt name would be one to those who check types
    __getattr__ = lazily(__name__, _HOMES)
