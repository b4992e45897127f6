"""Sessions, of which there is a bounded number: each has one episode at a time, or none yet."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from kernelbot.domain.errors import Conflict, NotFound, Unavailable
from kernelbot.environment.episodes import Episode, Grounds
from kernelbot.environment.messages import Action, Observation, ResetRequest, State
from kernelbot.environment.recording import Recorder
from kernelbot.environment.settings import SessionLimits
from kernelbot.environment.tasks import TaskSet

_LOOKS_PER_IDLE_TIME = 4
log = logging.getLogger(__name__)


class SessionsTaken(Unavailable):
    """All sessions are taken."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"All {most} sessions of this server are taken.",
            hint="Try again when one has ended, or start the server with more --sessions.",
        )
        self.most = most


class ClientSession:
    """One client's session. It costs nothing until its first action."""

    def __init__(self, grounds: Grounds, tasks: TaskSet, recorder: Recorder | None) -> None:
        self._grounds = grounds
        self._tasks = tasks
        self._recorder = recorder
        self._recorded: Episode | None = None
        self._recording: asyncio.Task[None] | None = None
        self._busy = 0
        self._last_used = time.monotonic()
        self.episode: Episode | None = None

    async def reset(self, asked: ResetRequest) -> Observation:
        """Begin an episode; one that isn't over is abandoned. Raises `NotFound` and `UserError` if
        there is no such task, and `Conflict` while an action is judged."""
        if self._busy:
            raise Conflict(
                "This session is judging an action.", hint="Wait for its answer, then reset."
            )
        episode = Episode.begin(self._grounds, self._tasks, asked)
        await self.close()
        self.episode, self._last_used = episode, time.monotonic()
        return episode.first()

    async def step(self, action: Action, timeout_s: float | None = None) -> Observation:
        """Judge an action. Raises as `Episode.attempt`, `Conflict` without an episode, and
        `Unavailable` if it took longer than `timeout_s`; then nothing has happened."""
        if self.episode is None:
            raise Conflict("No episode has begun.", hint="Reset first.")
        self._busy += 1
        try:
            async with asyncio.timeout(timeout_s) as limit:
                observation = await self.episode.attempt(action)
        except TimeoutError:
            if not limit.expired():
                raise
            raise Unavailable(
                f"The action wasn't judged within {timeout_s:g} s, and isn't counted.",
                hint="Send it again with a longer `timeout_s`.",
            ) from None
        finally:
            self._busy -= 1
            self._last_used = time.monotonic()
        if observation.done:
            await self._record()
        return observation

    def state(self) -> State:
        self._last_used = time.monotonic()
        return State() if self.episode is None else self.episode.state()

    def is_idle(self, idle_s: float) -> bool:
        """Whether it has judged nothing and was asked nothing for so long."""
        return not self._busy and time.monotonic() - self._last_used >= idle_s

    @property
    def is_over(self) -> bool:
        """Whether its episode has ended by itself."""
        return self.episode is not None and self.episode.is_done

    async def close(self) -> None:
        """Record an episode that was abandoned, and wait until it, or one that was over, is on the
        disk. Idempotent."""
        await self._record()

    async def _record(self) -> None:
        """An episode that is over is recorded also if its client leaves meanwhile, who cancels the
        wait for it."""
        episode = self.episode
        if self._recorder is None or episode is None:
            return
        if episode is not self._recorded and episode.steps:
            self._recorded = episode
            self._recording = asyncio.create_task(self._recorder.write(episode))
        if self._recording is not None:
            await asyncio.shield(self._recording)


class ClientSessions:
    """All sessions of a server. Those over HTTP are found by their episode's id, until it is
    over."""

    def __init__(self, make: Callable[[], ClientSession], limits: SessionLimits) -> None:
        self._make = make
        self._limits = limits
        self._open: set[ClientSession] = set()
        self._by_id: dict[str, ClientSession] = {}

    @property
    def idle_s(self) -> float:
        """How long a session may do nothing."""
        return self._limits.idle_s

    def open(self) -> ClientSession:
        """Raises `SessionsTaken`."""
        if len(self._open) >= self._limits.most:
            raise SessionsTaken(self._limits.most)
        session = self._make()
        self._open.add(session)
        return session

    async def close(self, session: ClientSession) -> None:
        self._open.discard(session)
        await session.close()

    async def reset(self, asked: ResetRequest) -> Observation:
        """Begin an episode in a session of its own, which ends with it. Raises `SessionsTaken`,
        `Conflict` if there is one of this id, and as `ClientSession.reset`."""
        if asked.episode_id in self._by_id:
            raise Conflict(f"There is an episode {asked.episode_id!r} already.")
        session = self.open()
        try:
            observation = await session.reset(asked)
        except BaseException:
            await self.close(session)
            raise
        assert session.episode is not None
        self._by_id[session.episode.id] = session
        return observation

    async def step(self, episode_id: str, action: Action, timeout_s: float | None) -> Observation:
        """Raises `NotFound` if there is no such episode, and as `ClientSession.step`."""
        session = self._found(episode_id)
        try:
            return await session.step(action, timeout_s)
        finally:
            # Also if its client has left while it was recorded: it holds a place.
            if session.is_over:
                await self._forget(episode_id)

    def state(self, episode_id: str) -> State:
        """Raises `NotFound`."""
        return self._found(episode_id).state()

    @asynccontextmanager
    async def end_idle_sessions(self) -> AsyncIterator[None]:
        """Within the block idle sessions over HTTP are ended; at its end all are."""
        ending = asyncio.create_task(self._end_idle())
        try:
            yield
        finally:
            ending.cancel()
            await asyncio.wait([ending])
            for session in tuple(self._open):
                await self.close(session)

    async def _end_idle(self) -> None:
        while True:
            await asyncio.sleep(self._limits.idle_s / _LOOKS_PER_IDLE_TIME)
            for name, session in tuple(self._by_id.items()):
                if session.is_idle(self._limits.idle_s):  # asked here: to forget one takes time
                    log.info("The episode %r was idle, and is ended.", name)
                    await self._forget(name)

    async def _forget(self, episode_id: str) -> None:
        session = self._by_id.pop(episode_id, None)
        if session is not None:
            await self.close(session)

    def _found(self, episode_id: str) -> ClientSession:
        session = self._by_id.get(episode_id)
        if session is None:
            raise NotFound(
                "There is no episode of this id: it is over, was idle for too long, or never "
                "began.",
                hint="POST /reset begins one, and answers its id.",
            )
        return session
