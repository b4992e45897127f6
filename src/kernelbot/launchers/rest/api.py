"""Requests with a token to one scheduler, and what their statuses mean."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar, cast

from pydantic import ValidationError

from kernelbot.domain.errors import DeviceRefused, PlatformError, RateLimited, SchedulerError
from kernelbot.launchers.rest.client import Etags, Http, HttpAnswer, SchedulerAnswer, read
from kernelbot.launchers.rest.tokens import Dialect, SchedulerToken, SchedulerTokens

T = TypeVar("T")
_NEXT = re.compile(r"""\brel="?next\b""")
_LONGEST_WAIT_S = 65.0
"""For a limit to be counted anew."""
_LOOK_S = 1.0
_SHORT_S = 10.0
"""A limit that is over so soon is nothing to speak of."""
_OURS = frozenset((400, 401, 403, 404, 410, 413, 422))
"""Statuses that say we have asked for something wrong."""


class _Refusal(SchedulerAnswer):
    message: str


class RestApi:
    """Below one path. Everything raises `SchedulerError` if the scheduler fails (`RateLimited` if
    it limits us), and `PlatformError` if it won't let us do what we ask. A limit that ends soon is
    waited for."""

    def __init__(
        self,
        dialect: Dialect,
        url: str,
        headers: Mapping[str, str],
        tokens: tuple[str, ...],
        timeout_s: float,
    ) -> None:
        self._name = dialect.name
        self._headers = headers
        self._http = Http(dialect.name, url, timeout_s)
        self._etags = Etags()
        self._turns = asyncio.Lock()
        self._waiting = 0
        """Requests whose turn hasn't come."""
        self.tokens = SchedulerTokens(tokens, dialect)

    async def close(self) -> None:
        """End all connections."""
        await self._http.close()

    async def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
    ) -> HttpAnswer:
        """The answer, whatever its status, if it wasn't the token that was refused."""
        return await self._with_token(
            lambda token: self._http.request(
                method,
                path,
                headers={**self._headers, **token.headers()},
                params=params,
                body=body,
            )
        )

    async def find(
        self,
        kind: type[T],
        path: str,
        what: str,
        params: Mapping[str, str] | None = None,
        *,
        again: bool = False,
    ) -> T | None:
        """What is there; None: nothing. `again`: it is asked for again and again, and isn't sent
        anew as long as it hasn't changed."""
        keys = []

        async def ask(token: SchedulerToken) -> HttpAnswer:
            keys.append(f"{id(token)} {kind} {path} {params}")  # each token has its own ETags
            headers = {**self._headers, **token.headers(), **self._etags.headers(keys[-1])}
            return await self._http.request("GET", path, headers=headers, params=params)

        answer = await self._with_token(ask)
        if answer.status == 304 and keys[-1] in self._etags:
            return cast("T", self._etags.value(keys[-1]))  # the key says of which kind
        if answer.status == 404:
            return None
        self.must(answer, 200, f"reading {what}")
        value = read(kind, answer, self._name, what)
        if again:
            self._etags.keep(keys[-1], answer, value)
        return value

    async def pages(
        self,
        kind: type[T],
        path: str,
        what: str,
        size: int,
        most_pages: int,
        *,
        may_be_hidden: bool = False,
    ) -> list[T] | None:
        """All of a list that links its next page, as far as so many pages go; None: there is no
        such list, or, if it `may_be_hidden`, our token may not see it."""
        found: list[T] = []
        for page in range(1, most_pages + 1):
            params = {"per_page": str(size), "page": str(page)}
            answer = await self.send("GET", path, params=params)
            if answer.status == 404 or (may_be_hidden and answer.status == 403):
                return None
            self.must(answer, 200, f"reading {what}")
            found += read(list[kind], answer, self._name, what)  # type: ignore[valid-type]  # a type it is
            if not _NEXT.search(answer.headers.get("link", "")):
                break  # its address may be on any host: the token goes to ours alone
        return found

    async def fetch(self, path: str, max_bytes: int) -> HttpAnswer:
        """What a path leads to, on whatever host. Raises `TooLarge`, too."""
        return await self._with_token(
            lambda token: self._http.download(
                path, headers={**self._headers, **token.headers()}, max_bytes=max_bytes
            )
        )

    def must(self, answer: HttpAnswer, status: int, doing: str) -> None:
        """Raises unless the answer has the status."""
        if answer.status == status:
            return
        try:
            said = _Refusal.model_validate_json(answer.content).message
        except ValidationError:
            said = answer.excerpt
        sentence = f"{self._name} answered {answer.status} to {doing}: {said[:300]}"
        raise PlatformError(sentence) if answer.status in _OURS else SchedulerError(sentence)

    def must_create(self, answer: HttpAnswer, status: int, doing: str) -> None:
        """The same of a job that was to be made. Raises `DeviceRefused` instead of `PlatformError`:
        what we ask for wrongly, or may not ask for, is so for all jobs."""
        try:
            self.must(answer, status, doing)
        except PlatformError as error:
            raise DeviceRefused(str(error)) from None

    async def _with_token(
        self, ask: Callable[[SchedulerToken], Awaitable[HttpAnswer]]
    ) -> HttpAnswer:
        """The answer, of whichever token it can be had with."""
        for _ in range(len(self.tokens) + 1):
            token = await self._turn()
            try:
                answer = await ask(token)
            finally:
                self.tokens.answered(token)
            self.tokens.note_limit(token, answer)
            if answer.status == 401:
                self.tokens.refused(token)
            elif not self.tokens.limited(token, answer):
                return answer
        self.tokens.wait_s()  # raises if no token is accepted
        said = f"{self._name} limits our requests again and again."
        raise RateLimited(said, for_s=self.tokens.used_up_s())

    async def _turn(self) -> SchedulerToken:
        """The token of the next request, once it may be made. Each sees what those before it have
        used, though they aren't answered yet."""
        self._waiting += 1
        try:
            return await self._next_turn()
        finally:
            self._waiting -= 1

    async def _next_turn(self) -> SchedulerToken:
        async with self._turns:
            while (wait_s := self.tokens.wait_s()) > 0:
                if (for_s := self.tokens.used_up_s()) > _LONGEST_WAIT_S:
                    raise RateLimited(f"{self._used_up_for(for_s)}.", for_s=for_s)
                await asyncio.sleep(min(wait_s, _LOOK_S))  # an answer may change it meanwhile
            return self.tokens.spend()

    def pause_s(self) -> float:
        """What a request must be followed by so that the limits last."""
        return self.tokens.pause_s()

    def spare(self) -> float:
        """Requests that may be made now, and none of them has to wait for its turn."""
        return max(self.tokens.spare() - self._waiting, 0.0)

    def used_up(self) -> str:
        """The sentence that no request may be made just now, and for how long; empty if one may.
        Raises `PlatformError` if no token is accepted."""
        wait_s = self.tokens.used_up_s()
        return self._used_up_for(wait_s) if wait_s > _SHORT_S else ""

    def _used_up_for(self, wait_s: float) -> str:
        return f"{self._name}'s rate limit is used up for {wait_s:.0f} s"
