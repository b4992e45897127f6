"""The typed HTTP clients, for the terminal, for tests and for anyone's program.

from kernelbot.client import KernelbotClient, find_endpoint

with KernelbotClient.to(find_endpoint()) as client:
    submission = client.submit("sort.py", source, board="sort")
    for event in client.events(submission.id):
        print(event.kind, event.data)

`AsyncKernelbotClient` of `client.asynchronous` has the same methods, to be awaited. It isn't loaded
here: asyncio would take each command a tenth of its start.
"""

from kernelbot.client.endpoint import Endpoint, find_endpoint
from kernelbot.client.errors import BadAnswer, Refused, Unreachable
from kernelbot.client.http import KernelbotClient

__all__ = [
    "BadAnswer",
    "Endpoint",
    "KernelbotClient",
    "Refused",
    "Unreachable",
    "find_endpoint",
]
