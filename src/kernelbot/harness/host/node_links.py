"""A node that reaches the platform: its job comes from a signed link, and progress goes to another.

The links are secrets as the payload is. They stand in variables, which are wiped before the links
are used, and in this process's memory; the author's code runs in others, which never had them.

Sending must not disturb what is measured. It is a thread's work in this process, which measures
nothing, at the lowest priority, on the processors that authors don't get. It sends at once if
nothing was sent lately, at most five times a second, and every two seconds while times are taken.
"""

import contextlib
import http.client
import json
import os
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from dataclasses import dataclass
from http import HTTPStatus

from kernelbot.harness.host.node import EventSink, NoSink, forget_environment
from kernelbot.harness.host.processors import author_cpus
from kernelbot.protocol import (
    MAX_PAYLOAD_BYTES,
    EventKind,
    Phase,
    ProgressEvent,
    WireError,
    to_wire,
)
from kernelbot.protocol.loopback import is_loopback

_DOWNLOAD_S = 300.0
_ANSWER_S = 30.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 15.0
_CHUNK_BYTES = 1 << 16
_SAID_BYTES = 2000
_MAX_BATCH_BYTES = 200 << 10
_MAX_WAITING = 2000
_SEND_S = 10.0
_PAUSE_S = 0.2
_PAUSE_MEASURING_S = 2.0
_LAST_WORDS_S = 2.0
_SHORTEST_S = 0.1
_WORTH_ANOTHER_TRY = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
_QUIETEST = 19


class _LinkRefused(Exception):
    """The platform won't, however often it is asked; the text is its sentence."""


class _Failed(Exception):
    """The request failed, but may go well another time."""


class _Way:
    """A link, and how it is reached: proxies and certificates are named by the environment, so this
    is made while there is one."""

    def __init__(self, link: str) -> None:
        if not link.startswith(("http://", "https://")):
            raise WireError("the link isn't one of HTTP")
        self._link = link
        none: dict[str, str] = {}
        proxies = none if is_loopback(link) else None  # None: those of the environment
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler(proxies),
            urllib.request.HTTPSHandler(context=ssl.create_default_context()),
        )

    def ask(
        self, more: str = "", body: bytes | None = None, *, within_s: float, most: int
    ) -> bytes:
        """What is answered, `most` bytes at most. Raises `_LinkRefused`, `_Failed`; neither text
        has the link in it."""
        until_s = time.monotonic() + within_s
        try:
            request = urllib.request.Request(self._link + more, data=body)  # noqa: S310  # see above
            with self._opener.open(request, timeout=min(within_s, _ANSWER_S)) as response:
                return _read(response, until_s, most)
        except urllib.error.HTTPError as error:
            with error:
                said = _sentence(error)
            if error.code < HTTPStatus.INTERNAL_SERVER_ERROR and error.code not in (
                _WORTH_ANOTHER_TRY
            ):
                raise _LinkRefused(said) from None
            raise _Failed(said) from None
        except (http.client.InvalidURL, ValueError):
            raise _LinkRefused("the link can't be used") from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise _Failed(f"the platform can't be reached: {reason}") from None


def _read(response: http.client.HTTPResponse, until_s: float, most: int) -> bytes:
    chunks: list[bytes] = []
    left = most
    while left > 0 and (chunk := response.read(min(left, _CHUNK_BYTES))):
        chunks.append(chunk)
        left -= len(chunk)
        if time.monotonic() > until_s:
            raise TimeoutError("it answers too slowly")
    if left > 0 and response.length:
        raise ConnectionResetError("the answer broke off")
    return b"".join(chunks)


def _sentence(error: urllib.error.HTTPError) -> str:
    """The platform's own, or the status."""
    try:
        said = json.loads(error.read(_SAID_BYTES))["detail"]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        said = None
    return said if isinstance(said, str) else f"the platform answered with status {error.code}"


@dataclass(frozen=True)
class LinkPayload:
    """Implements `PayloadSource`. `name`: the variable that has the link."""

    name: str

    def take(self) -> bytes:
        """Implements `PayloadSource`. A platform that is away is asked again for some minutes."""
        link = os.environ.get(self.name)
        if link is None:
            raise WireError(f"there is no variable {self.name}")
        way = _Way(link)
        forget_environment()
        return _download(way)


def _download(way: _Way) -> bytes:
    until_s = time.monotonic() + _DOWNLOAD_S
    pause_s = _FIRST_PAUSE_S
    while True:
        left_s = until_s - time.monotonic()
        try:
            return way.ask(within_s=left_s, most=2 * MAX_PAYLOAD_BYTES)
        except _LinkRefused as error:
            raise WireError(str(error)) from None
        except _Failed as error:
            if left_s <= pause_s:
                raise WireError(str(error)) from None
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def link_sink(name: str, reserved_cores: int) -> EventSink:
    """Progress to the link in the variable `name`, which is wiped with the others; to nobody if
    there is none."""
    try:
        return LinkSink(_Way(os.environ.get(name, "")), reserved_cores)
    except WireError:
        return NoSink()


class LinkSink:
    """Implements `EventSink`. Events wait for a thread that sends them in order, several at once.
    Those that can't be sent are sent later, or dropped if there are too many."""

    def __init__(self, way: _Way, reserved_cores: int) -> None:
        self._way = way
        self._reserved_cores = reserved_cores
        self._news = threading.Condition()
        self._waiting: deque[tuple[int, bytes]] = deque(maxlen=_MAX_WAITING)
        """Lines with their numbers, from 0: by these the platform knows what it had before."""
        self._count = 0
        self._measuring = False
        self._closing = False
        self._sending = False
        """Whether the thread is."""
        self._failures = 0
        self._is_over = False
        """For the platform: whatever comes is dropped."""
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def emit(self, event: ProgressEvent) -> None:
        """Implements `EventSink`."""
        line = json.dumps(to_wire(event)).encode() + b"\n"
        if len(line) > _MAX_BATCH_BYTES:
            return
        with self._news:
            self._measuring = _takes_times(event, before=self._measuring)
            self._waiting.append((self._count, line))
            self._count += 1
            self._news.notify()
            if self._count == 1:
                self._thread.start()

    def close(self) -> None:
        """Implements `EventSink`. What waits is sent, if the platform takes it at once: by the
        caller, who isn't quiet. Nothing is measured any more, and the thread may hardly have a
        processor beside others."""
        with self._news:
            self._closing = True
            self._news.notify_all()
            has_stopped = self._news.wait_for(lambda: not self._sending, _LAST_WORDS_S)
        until_s = time.monotonic() + _LAST_WORDS_S
        with contextlib.suppress(_LinkRefused, _Failed):
            while has_stopped and not (self._failures or self._is_over) and self._waiting:
                self._send(self._batch(), max(until_s - time.monotonic(), _SHORTEST_S))

    def _run(self) -> None:
        self._be_quiet()
        sent_at_s = float("-inf")
        while batch := self._next(sent_at_s):
            try:
                self._send(batch, _SEND_S)
                self._failures = 0
            except _LinkRefused:
                self._is_over = True
            except _Failed:
                self._failures += 1
            sent_at_s = time.monotonic()
            with self._news:
                self._sending = False
                self._news.notify_all()

    def _be_quiet(self) -> None:
        """Lower the priority of this thread alone: Linux has one for each."""
        me = threading.get_native_id()
        theirs = author_cpus(self._reserved_cores, 1)
        ours = os.sched_getaffinity(0) - set(theirs)
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, me, _QUIETEST)
            os.sched_setaffinity(me, ours or os.sched_getaffinity(0))

    def _next(self, sent_at_s: float) -> list[tuple[int, bytes]]:
        """What to send, when it is time; empty: the thread sends nothing more."""
        with self._news:
            while not (self._closing or self._is_over):
                left_s = sent_at_s + self._pause_s() - time.monotonic()
                if self._waiting and left_s <= 0:
                    self._sending = True
                    return self._batch()
                self._news.wait(left_s if self._waiting else None)
            return []

    def _pause_s(self) -> float:
        if self._failures:
            return min(_FIRST_PAUSE_S * 2.0**self._failures, _LONGEST_PAUSE_S)
        return _PAUSE_MEASURING_S if self._measuring else _PAUSE_S

    def _batch(self) -> list[tuple[int, bytes]]:
        taken, size = [], 0
        for number, line in self._waiting:
            size += len(line)
            if size > _MAX_BATCH_BYTES:
                break
            taken.append((number, line))
        return taken

    def _send(self, batch: list[tuple[int, bytes]], within_s: float) -> None:
        first, last = batch[0][0], batch[-1][0]
        body = b"".join(line for _, line in batch)
        self._way.ask(f"&first={first}", body, within_s=within_s, most=_SAID_BYTES)
        with self._news:
            while self._waiting and self._waiting[0][0] <= last:
                self._waiting.popleft()


def _takes_times(event: ProgressEvent, *, before: bool) -> bool:
    if event.kind is EventKind.PHASE_STARTED:
        return event.phase is not Phase.TEST
    return before and event.kind is not EventKind.PHASE_FINISHED
