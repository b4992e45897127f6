"""The client itself: one method per route, answers as the server's own models."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx
from pydantic import BaseModel, ValidationError

from kernelbot.accounts.model import NewAccount, Person, Role
from kernelbot.accounts.schemas import NewUser
from kernelbot.boards.model import NamedBoard, ProblemDefinition, Statement, Visibility
from kernelbot.boards.schemas import BoardList, NewBoard, problem_to_wire
from kernelbot.client.accounts import AccountCalls
from kernelbot.client.calls import Model, Query, part, unsendable
from kernelbot.client.endpoint import Endpoint
from kernelbot.client.errors import BadAnswer, Refused, Unreachable
from kernelbot.client.organisers import OrganiserCalls
from kernelbot.client.ranking import RankingCalls
from kernelbot.client.signed import SignedCalls
from kernelbot.client.sse import Frame, SseParser
from kernelbot.client.webhooks import WebhookCalls
from kernelbot.domain.errors import KernelbotError, UserError
from kernelbot.platform.health.schemas import ReadyView
from kernelbot.protocol import Mode
from kernelbot.runs.devices.schemas import DeviceList
from kernelbot.runs.queue.model import QueuePosition
from kernelbot.runs.samples.schemas import SampleList
from kernelbot.schemas.errors import ErrorBody
from kernelbot.schemas.mistakes import what_is_wrong
from kernelbot.schemas.values import from_json
from kernelbot.submissions.artifacts.schemas import ArtifactList
from kernelbot.submissions.model import Event
from kernelbot.submissions.schemas import (
    Decision,
    HeldList,
    SubmissionList,
    SubmissionView,
)

API = "/api/v1"


class KernelbotClient(AccountCalls, RankingCalls, WebhookCalls, SignedCalls):
    """Talks to one server; use it in a `with` block. Every method raises `Refused`,
    `Unreachable` or `BadAnswer`, or `UserError` (pydantic's `ValidationError` for a body) for what
    can't be sent. It may be used from one thread at a time."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = url
        self._http = httpx.Client(
            base_url=url, headers=_credentials(token), timeout=timeout_s, transport=transport
        )

    @classmethod
    def to(cls, endpoint: Endpoint) -> "KernelbotClient":
        """A client for a server that was found."""
        return cls(endpoint.url, endpoint.token)

    def __enter__(self) -> "KernelbotClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._http.close()

    def boards(self) -> BoardList:
        """Every board that the caller may see."""
        return self._get(BoardList, "/boards")

    def board(self, name: str) -> NamedBoard:
        """One board."""
        return self._get(NamedBoard, f"/boards/{part(name)}")

    def problem(self, board: str) -> Statement:
        """A board's statement and starter files."""
        return self._get(Statement, f"/boards/{part(board)}/problem")

    def create_board(
        self,
        definition: ProblemDefinition,
        *,
        name: str,
        deadline: datetime | None = None,
        visibility: Visibility = Visibility.PUBLIC,
        devices: Sequence[str] | None = None,
    ) -> NamedBoard:
        """Open a board. `devices` None: those the problem names."""
        body = NewBoard(
            name=name,
            problem=problem_to_wire(definition),
            deadline=deadline,
            visibility=visibility,
            devices=None if devices is None else list(devices),
        )
        return self._post(NamedBoard, "/boards", json=body.model_dump(mode="json"))

    def submit(
        self,
        file_name: str,
        content: bytes,
        *,
        board: str | None = None,
        devices: Sequence[str] = (),
        mode: Mode = Mode.LEADERBOARD,
        late: bool = False,
    ) -> SubmissionView:
        """Send a file. Its directives decide what was left out. `late`: also past the deadline,
        for admins. Once this returns, the submission is stored and will be judged."""
        fields: dict[str, str | list[str]] = {"mode": mode, "device": list(devices)}
        if board is not None:
            fields["board"] = board
        if late:
            fields["late"] = "true"
        files = {"file": (file_name, content, "application/octet-stream")}
        return self._post(SubmissionView, "/submissions", data=fields, files=files)

    def submission(self, submission_id: int) -> SubmissionView:
        """One submission with code and results."""
        return self._get(SubmissionView, f"/submissions/{submission_id}")

    def submissions(
        self,
        *,
        board: str | None = None,
        user: str | None = None,
        everyone: bool = False,
        limit: int = 50,
        before_id: int | None = None,
    ) -> SubmissionList:
        """The caller's, the newest first; for organisers `everyone`'s on a board, or a `user`'s."""
        query = {"board": board, "user": user, "limit": limit, "before_id": before_id}
        if everyone:
            query["all"] = "true"
        return self._get(SubmissionList, "/submissions", query)

    def cancel(self, submission_id: int) -> SubmissionView:
        """Stop one that hasn't finished."""
        return self._post(SubmissionView, f"/submissions/{submission_id}/cancel")

    def samples(self, submission_id: int) -> SampleList:
        """Every sample of a submission that the caller may see."""
        return self._get(SampleList, f"/submissions/{submission_id}/samples")

    def artifacts(self, submission_id: int) -> ArtifactList:
        """The files of a submission's runs."""
        return self._get(ArtifactList, f"/submissions/{submission_id}/artifacts")

    def artifact(self, submission_id: int, run_id: int, name: str, file: Path) -> int:
        """Write one of them to `file`; returns its size in bytes."""
        path = f"/submissions/{submission_id}/artifacts/{run_id}/{part(name)}"
        return self.download(path, {}, file)

    def held(self, board: str | None = None) -> HeldList:
        """The submissions that wait for the caller's decision."""
        return self._get(HeldList, "/reviews", {"board": board})

    def release(self, submission_id: int, reason: str) -> SubmissionView:
        """Let a held or refused submission be ranked."""
        body = Decision(reason=reason).model_dump()
        return self._post(SubmissionView, f"/submissions/{submission_id}/release", json=body)

    def refuse(self, submission_id: int, reason: str) -> SubmissionView:
        """Keep a submission from the ranking; its author reads the reason."""
        body = Decision(reason=reason).model_dump()
        return self._post(SubmissionView, f"/submissions/{submission_id}/refuse", json=body)

    @property
    def organise(self) -> OrganiserCalls:
        """What organisers do."""
        return OrganiserCalls(self.call, self.download)

    def me(self) -> Person:
        """The account that the token belongs to."""
        return self._get(Person, "/users/me")

    def create_user(self, name: str, role: Role = Role.COMPETITOR) -> NewAccount:
        """A new account with its token."""
        body = NewUser(name=name, role=role)
        return self._post(NewAccount, "/users", json=body.model_dump(mode="json"))

    def devices(self) -> DeviceList:
        """Every configured device."""
        return self._get(DeviceList, "/devices")

    def ready(self) -> ReadyView:
        """Whether the server answers and accepts submissions, and whether it judges them; doesn't
        raise if it doesn't."""
        with self._talking():
            response = self._http.get("/ready")
        return (
            _read(ReadyView, response)
            if response.status_code == 503
            else _answer(ReadyView, response)
        )

    def events(
        self,
        submission_id: int,
        *,
        after: int = 0,
        patience_s: float = 60.0,
        on_queue: Callable[[QueuePosition], None] | None = None,
        on_broken: Callable[[KernelbotError], None] | None = None,
    ) -> Iterator[Event]:
        """All events of a submission with an id above `after`, then those to come, until its
        last. A broken connection is resumed where it broke, for `patience_s`: a server that isn't
        back by then is `Unreachable`. `on_queue` is called with each new place in the queue (1 is
        next) while the submission waits; `on_broken` once each time that the server is away, when
        it couldn't be reached again at the first try."""
        pause_s, give_up_s = 0.1, time.monotonic() + patience_s
        failures = 0
        while True:
            try:
                with self._open_stream(submission_id, after) as response:
                    give_up_s, failures = time.monotonic() + patience_s, 0
                    for frame in _frames(response):
                        pause_s = 0.1  # not reset if streams end without any event
                        if frame.event == "end":
                            return
                        if frame.event == "queue" and on_queue:
                            on_queue(_parse(QueuePosition, frame.data))
                        if frame.id is None:
                            continue  # not part of the history
                        event = _parse(Event, frame.data)
                        if event.id > after:  # none twice, whatever the server sends again
                            after = event.id
                            yield event
            except (Unreachable, Refused) as error:
                lasting = isinstance(error, Refused) and error.status < 500
                if lasting or time.monotonic() > give_up_s:
                    raise
                failures += 1
                if failures == 2 and on_broken:
                    on_broken(error)
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 5.0)

    def ask(
        self,
        model: type[Model],
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: BaseModel | None = None,
    ) -> Model:
        """Ask the API: the answer, read as `model`. Keys with None in `query`, and fields of
        `body` that were not set, are left out."""
        params = {key: value for key, value in (query or {}).items() if value is not None}
        json = None if body is None else body.model_dump(mode="json", exclude_unset=True)
        with self._talking():
            response = self._http.request(method, API + path, params=params, json=json)
        return _answer(model, response)

    def text(self, path: str, query: Query) -> str:
        """Ask the API for an answer that is no document."""
        params = {key: value for key, value in query.items() if value is not None}
        with self._talking():
            response = self._http.get(API + path, params=params)
        if not response.is_success:
            raise _refusal(response)
        return response.text

    def send(self, method: str, path: str, **content: Any) -> None:
        """Ask the API something whose answer has no body."""
        with self._talking():
            response = self._http.request(method, API + path, **content)
        if not response.is_success:
            raise _refusal(response)

    @contextmanager
    def _open_stream(self, submission_id: int, after: int) -> Iterator[httpx.Response]:
        headers = {"Last-Event-ID": str(after), "Accept": "text/event-stream"}
        path = f"{API}/submissions/{submission_id}/events"
        with self._talking(), self._http.stream("GET", path, headers=headers) as response:
            if response.is_error:
                response.read()
                raise _refusal(response)
            yield response

    def _get(
        self, model: type[Model], path: str, query: dict[str, str | int | None] | None = None
    ) -> Model:
        params = {key: value for key, value in (query or {}).items() if value is not None}
        with self._talking():
            response = self._http.get(API + path, params=params)
        return _answer(model, response)

    def _post(self, model: type[Model], path: str, **content: Any) -> Model:
        return self.call(model, "POST", path, **content)

    def call(self, model: type[Model], method: str, path: str, **content: Any) -> Model:
        """Any request below `/api/v1`; `content` is what httpx takes."""
        with self._talking():
            response = self._http.request(method, API + path, **content)
        return _answer(model, response)

    def download(self, path: str, params: dict[str, list[str]], file: Path) -> int:
        """Write an answer below `/api/v1` to a file, which appears only once it is complete;
        returns its size in bytes. Also raises `UserError` if it can't be written."""
        draft = file.with_name(f".{file.name}.part")
        with self._talking(), self._http.stream("GET", API + path, params=params) as response:
            if response.is_error:
                response.read()
                raise _refusal(response)
            try:
                with draft.open("wb") as opened:
                    for piece in response.iter_bytes():
                        opened.write(piece)
                draft.replace(file)
            except OSError as error:
                raise UserError(f"{file} can't be written: {error.strerror}.") from None
            finally:
                draft.unlink(missing_ok=True)
        return file.stat().st_size

    @contextmanager
    def _talking(self) -> Iterator[None]:
        try:
            yield
        except httpx.TransportError as error:
            why = str(error) or type(error).__name__
            raise Unreachable(
                f"The server at {self.url} can't be reached: {why}.",
                hint="Is it running (`kernelbot serve`)? Is KERNELBOT_URL right?",
            ) from error
        except httpx.InvalidURL as error:
            raise Unreachable(f"{self.url} is not a URL that can be asked: {error}.") from error
        except UnicodeEncodeError as error:
            raise unsendable(error.object) from None


def _credentials(token: str | None) -> dict[str, str]:
    """The header that says who asks. Raises `UserError` for what no header can hold."""
    if not token:
        return {}
    if not (token.isascii() and token.isprintable()):
        raise UserError(
            "This can't be a token: it contains characters that no token has.",
            hint="See KERNELBOT_TOKEN, or log in again.",
        )
    return {"Authorization": f"Bearer {token}"}


def _frames(response: httpx.Response) -> Iterator[Frame]:
    parser = SseParser()
    for piece in response.iter_bytes():
        yield from parser.feed(piece)


def _answer(model: type[Model], response: httpx.Response) -> Model:
    if not response.is_success:
        raise _refusal(response)
    return _read(model, response)


def _read(model: type[Model], response: httpx.Response) -> Model:
    return _parse(model, response.content)


def _parse(model: type[Model], text: str | bytes) -> Model:
    try:
        return from_json(model, text)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "it"
        raise BadAnswer(
            f"The server's answer is not a {model.__name__}: {key} {what_is_wrong(first)}.",
            hint="Is it a KernelBot server, and as new as this client?",
        ) from error


def _refusal(response: httpx.Response) -> Refused:
    try:
        body = ErrorBody.model_validate_json(response.content)
    except ValidationError:
        detail = f"The server answered {response.status_code} {response.reason_phrase}."
        body = ErrorBody(detail=detail, code="bad_answer")
    return Refused(response.status_code, body)
