"""Builds that are kept, and that runs wait for; each step is one transaction."""

import hashlib

from kernelbot.protocol import JobSpec, Product
from kernelbot.runs.builds import store as builds
from kernelbot.runs.builds.store import Begun, Build, Built
from kernelbot.store.database import Database

__all__ = ["Begun", "Build", "Builds", "Built", "build_of"]


def build_of(job: JobSpec, key: bytes, attempt_id: int) -> Build:
    """The build of a job's submission, wanted by an attempt."""
    source_sha256 = hashlib.sha256(job.submission.text.encode()).digest()
    return Build(key, source_sha256, attempt_id)


class Builds:
    """What a worker asks and tells of builds."""

    def __init__(self, database: Database, limit_bytes: int) -> None:
        """`limit_bytes`: of all that is kept."""
        self._database = database
        self._limit_bytes = limit_bytes

    async def take(self, build: Build) -> Built | Begun | None:
        """The build if it is there; else it is the attempt's to make, unless another's makes it:
        then None, and the question is worth asking again."""
        async with self._database.write() as session:
            return await builds.find(session, build.key) or await builds.begin(session, build)

    async def launched(self, build: Build, begun: Begun) -> bool:
        """A scheduler has accepted the job that makes it. False: it isn't the attempt's to make."""
        async with self._database.write() as session:
            return await builds.launched(session, build, begun)

    async def keep(self, build: Build, product: Product | None) -> None:
        """It was built. None: there is nothing to carry."""
        async with self._database.write() as session:
            await builds.keep(session, build, product)
            await builds.evict(session, self._limit_bytes)

    async def drop(self, build: Build) -> None:
        """Nothing came of it."""
        async with self._database.write() as session:
            await builds.drop(session, build)
