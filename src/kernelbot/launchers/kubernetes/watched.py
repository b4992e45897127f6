"""What a cluster has of one kind of objects, as it tells us: a list, and then what changes."""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from typing import Generic

import structlog

from kernelbot.domain.errors import KernelbotError, SchedulerError
from kernelbot.launchers.kubernetes.api import Expired, I, KubernetesApi, ObjectKind

_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 15.0
_SHORT_S = 1.0
"""A watch that is over so soon is followed by a pause."""
_WATCHES_A_LIST = 20
"""After so many watches there is a list, whatever they have said."""
log = structlog.get_logger()


class WatchedObjects(Generic[I]):
    """Follows the cluster from the first question until `close`. `watch_s`: how long one watch
    lasts; `ready_s`: how long the first list is waited for."""

    def __init__(
        self, api: KubernetesApi, kind: ObjectKind[I], watch_s: float, ready_s: float
    ) -> None:
        self._api = api
        self._kind = kind
        self._watch_s = watch_s
        self._ready_s = ready_s
        self._items: dict[str, I] = {}
        """By uid."""
        self._version = ""
        """From where to watch; empty: begin with a list."""
        self._watches = 0
        """Since the last list."""
        self._trouble: KernelbotError | None = None
        """Why nothing can be said just now."""
        self._known = asyncio.Event()
        """The first list was read, or couldn't be."""
        self._following: asyncio.Task[None] | None = None
        self._pause_s = _FIRST_PAUSE_S

    async def close(self) -> None:
        """Stop following. Idempotent; a later question begins again."""
        following, self._following = self._following, None
        if following is not None:
            following.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await following
        self._version = ""
        self._known.clear()

    async def items(self) -> Mapping[str, I]:
        """All that there is, by uid. Raises `SchedulerError` or `PlatformError` if nothing can be
        said."""
        if self._following is None:
            self._following = asyncio.create_task(self._follow())
        elif self._following.done():
            self._following.result()  # raises: it has no end but by a mistake of ours
        try:
            async with asyncio.timeout(self._ready_s):
                await self._known.wait()
        except TimeoutError:
            raise SchedulerError(f"Kubernetes lists no {self._kind.name}.") from None
        if self._trouble is not None:
            raise type(self._trouble)(str(self._trouble))
        return self._items

    def add(self, item: I) -> None:
        """Add an object that was made just now, or seen elsewhere: what is known of it already may
        be newer."""
        self._items.setdefault(item.meta.uid, item)

    async def _follow(self) -> None:
        while True:
            begun_at = time.monotonic()
            try:
                if not self._version:
                    await self._list()
                    begun_at = time.monotonic()
                heard = await self._watch()
                self._watches += 1
                if not heard or self._watches >= _WATCHES_A_LIST:
                    self._version = ""  # who says nothing may have stopped speaking to us
            except Expired as error:
                log.info("watch_expired", kind=self._kind.name, reason=str(error))
                self._version = ""
            except KernelbotError as error:
                log.warning("watch_failed", kind=self._kind.name, error=str(error))
                self._version = ""
            if time.monotonic() - begun_at > _SHORT_S:
                self._pause_s = _FIRST_PAUSE_S
                continue
            await asyncio.sleep(self._pause_s)
            self._pause_s = min(self._pause_s * 2, _LONGEST_PAUSE_S)

    async def _list(self) -> None:
        try:
            found = await self._api.snapshot(self._kind)
        except KernelbotError as error:
            self._say(error)
            raise
        self._items = {item.meta.uid: item for item in found.items}
        self._version = found.version
        self._watches = 0
        self._say(None)

    async def _watch(self) -> bool:
        """Whether anything was heard."""
        heard = False
        watch = self._api.watch(self._kind, self._version, self._watch_s)
        async with contextlib.aclosing(watch) as all_news:
            async for news in all_news:
                heard = True
                self._version = news.version or self._version
                if news.item is not None and news.deleted:
                    self._items.pop(news.item.meta.uid, None)
                elif news.item is not None:
                    self._items[news.item.meta.uid] = news.item
        return heard

    def _say(self, trouble: KernelbotError | None) -> None:
        self._trouble = trouble
        self._known.set()
