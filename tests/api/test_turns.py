import asyncio
from collections import Counter

from starlette.types import Message, Receive, Scope, Send

from kernelbot.api.turns import RequestTurns

PER_TURN = 4
MANY = 30


class Rounds:
    """Counts the rounds of the event loop."""

    def __init__(self) -> None:
        self.count = 0
        self._go_on()

    def _go_on(self) -> None:
        self.count += 1
        asyncio.get_running_loop().call_soon(self._go_on)


class Application:
    """Notes in which round each request began and went on with its body. What asks for `/stream`
    never ends."""

    def __init__(self) -> None:
        self.rounds = Rounds()
        self.begun: list[tuple[str, int]] = []
        self.went_on: list[int] = []

    async def __call__(self, scope: Scope, receive: Receive, _send: Send) -> None:
        self.begun.append((scope["path"], self.rounds.count))
        if scope["path"] == "/stream":
            await asyncio.Event().wait()
        await receive()
        self.went_on.append(self.rounds.count)

    def paths(self) -> list[str]:
        return [path for path, _ in self.begun]


async def ask(turns: RequestTurns, path: str, body: asyncio.Event | None = None) -> None:
    """One request; its body comes with the event, None: it is there."""

    async def receive() -> Message:
        if body is not None:
            await body.wait()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_message: Message) -> None:
        raise AssertionError("nobody answers")

    await turns({"type": "http", "path": path}, receive, send)


async def rounds(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_of_many_that_come_together_a_few_begin_in_each_round() -> None:
    application = Application()
    turns = RequestTurns(application, PER_TURN)
    await asyncio.gather(*(ask(turns, "/") for _ in range(MANY)))
    in_each_round = Counter(number for _, number in application.begun)
    assert (PER_TURN, MANY) == (max(in_each_round.values()), in_each_round.total())


async def test_they_begin_in_the_order_in_which_they_came() -> None:
    application = Application()
    turns = RequestTurns(application, PER_TURN)
    asked = [f"/{number}" for number in range(MANY)]
    await asyncio.gather(*(ask(turns, path) for path in asked))
    assert asked == application.paths()


async def test_what_is_asked_of_the_process_itself_stands_in_no_line() -> None:
    application = Application()
    turns = RequestTurns(application, PER_TURN)
    asked = [*(f"/{number}" for number in range(MANY)), "/health", "/metrics"]
    await asyncio.gather(*(ask(turns, path) for path in asked))
    first = application.begun[0][1]
    began = dict(application.begun)
    assert (first, first) == (began["/health"], began["/metrics"])


async def test_bodies_that_come_together_go_on_a_few_in_each_round() -> None:
    application = Application()
    turns = RequestTurns(application, PER_TURN)
    body = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for _ in range(MANY):
            group.create_task(ask(turns, "/", body))
        await rounds(MANY)
        body.set()
    in_each_round = Counter(application.went_on)
    assert (PER_TURN, MANY) == (max(in_each_round.values()), in_each_round.total())


async def test_slow_uploads_and_endless_streams_delay_nobody() -> None:
    application = Application()
    turns = RequestTurns(application, PER_TURN)
    never = asyncio.Event()
    slow = [asyncio.create_task(ask(turns, "/slow", never)) for _ in range(MANY)]
    slow += [asyncio.create_task(ask(turns, "/stream")) for _ in range(MANY)]
    await rounds(2 * MANY)
    await asyncio.gather(*(ask(turns, "/quick") for _ in range(MANY)))
    assert MANY == application.paths().count("/quick")
    for task in slow:
        task.cancel()


async def test_a_client_that_leaves_the_line_makes_room() -> None:
    application = Application()
    turns = RequestTurns(application, PER_TURN)
    tasks = [asyncio.create_task(ask(turns, f"/{number}")) for number in range(MANY)]
    await rounds(1)
    for task in tasks[PER_TURN:-1]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert ["/0", "/1", "/2", "/3", f"/{MANY - 1}"] == application.paths()
