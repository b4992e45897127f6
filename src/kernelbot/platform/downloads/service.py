"""What the server hands to whoever asks, as files: the client that fits it, the whole package, and
the harness."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from kernelbot.domain.errors import NotFound
from kernelbot.platform.distribution import CLIENT_PATH, CLIENT_VERSION, wheel_name

HARNESS_NAME = "kernelbot-harness.pyz"
HARNESS_PATH = "/harness/"
"""Where people find the harness, and its hash."""
Build = Callable[[], bytes]


@dataclass(frozen=True)
class ServedFile:
    """A file with its hash, in hexadecimal digits."""

    name: str
    content: bytes = field(repr=False)
    sha256: str


class Downloads:
    """`build_...`: what makes each file, which may take some seconds; called in a thread when the
    file is asked for first."""

    def __init__(self, build_client: Build, build_whole: Build, build_harness: Build) -> None:
        self._client = _BuiltOnce(wheel_name(CLIENT_VERSION), build_client)
        self._whole = _BuiltOnce(wheel_name(), build_whole)
        self._harness = _BuiltOnce(HARNESS_NAME, build_harness)

    async def client(self) -> ServedFile:
        """The client as a wheel. Raises `Unavailable` if this server can't make one."""
        return await self._client.get()

    async def wheel(self, name: str) -> ServedFile:
        """The client or the whole, by the file's name. Raises `NotFound` if there is no such
        wheel, `Unavailable`."""
        found = next((one for one in (self._client, self._whole) if one.name == name), None)
        if found is None:
            raise NotFound(
                f"This server's client is {self._client.name}.",
                hint=f"{CLIENT_PATH} here has the commands that install it.",
            )
        return await found.get()

    async def harness(self, sha256: str | None = None) -> ServedFile:
        """The harness, a zipapp. Raises `NotFound` if `sha256` is another's."""
        found = await self._harness.get()
        if sha256 not in (None, found.sha256):
            raise NotFound(
                "This server has another harness.",
                hint="Server and worker must be of the same release; "
                f"{HARNESS_PATH} here names the one there is.",
            )
        return found


class _BuiltOnce:
    """Built for the first who asks, and kept; if that fails, built again for the next."""

    def __init__(self, name: str, build: Build) -> None:
        self.name = name
        self._build = build
        self._building: asyncio.Task[ServedFile] | None = None

    async def get(self) -> ServedFile:
        if self._building is None or (self._building.done() and self._building.exception()):
            self._building = asyncio.create_task(asyncio.to_thread(self._built))
        # Whoever goes away meanwhile takes it from nobody else.
        return await asyncio.shield(self._building)

    def _built(self) -> ServedFile:
        content = self._build()
        return ServedFile(self.name, content, hashlib.sha256(content).hexdigest())
