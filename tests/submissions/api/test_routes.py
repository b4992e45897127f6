import asyncio
import json
from pathlib import Path

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from kernelbot.protocol import Mode
from kernelbot.schemas.errors import ErrorBody
from kernelbot.submissions.model import Submission
from tests.support.door import Door
from tests.support.problems import CORRECT
from tests.support.waiting import until
from tests.support.workers import finished, quick_settings, working

END = "event: end\ndata: {}"
Files = dict[str, tuple[str, bytes]]


def upload(content: bytes = CORRECT, name: str = "fast.py") -> Files:
    return {"file": (name, content)}


async def send(
    client: httpx.AsyncClient, files: Files | None = None, **fields: str
) -> httpx.Response:
    data = {"board": "sort", "mode": "test", **fields}
    return await client.post("/api/v1/submissions", files=files or upload(), data=data)


async def test_a_submission_is_taken_in(door: Door) -> None:
    await door.world.board()
    answer = await send(door.ada)
    found = answer.json()
    assert (201, "queued", "ada", 1, CORRECT.decode()) == (
        answer.status_code,
        found["state"],
        found["author"],
        found["queue_position"],
        found["code"],
    )


async def test_without_a_mode_it_is_ranked(door: Door) -> None:
    await door.world.board()
    answer = await door.ada.post("/api/v1/submissions", files=upload(), data={"board": "sort"})
    assert [False, True] == sorted(run["secret"] for run in answer.json()["runs"])


async def test_a_directive_names_the_board(door: Door) -> None:
    await door.world.board()
    files = upload(b"#!POPCORN leaderboard sort\n" + CORRECT)
    answer = await door.ada.post("/api/v1/submissions", files=files, data={"mode": "test"})
    assert (201, "sort") == (answer.status_code, answer.json()["board"])


async def test_a_part_without_a_type_is_a_file(door: Door) -> None:
    await door.world.board()
    body = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.py"\r\n\r\n'
        b"def custom_kernel(data): return data\r\n"
        b'--x\r\nContent-Disposition: form-data; name="board"\r\n\r\nsort\r\n--x--\r\n'
    )
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = await door.ada.post("/api/v1/submissions", content=body, headers=headers)
    assert 201 == answer.status_code


@pytest.mark.parametrize("name", ["a'; echo x.py", 'quo"te.py', "späße.py", "%41.py", "a b.py"])
async def test_a_name_is_kept_as_it_is(door: Door, name: str) -> None:
    await door.world.board()
    answer = await send(door.ada, upload(name=name))
    assert (201, name) == (answer.status_code, answer.json()["file_name"])


@pytest.mark.parametrize(
    ("files", "fields", "expected"),
    [
        (upload(CORRECT), {"board": "none"}, (404, "not_found")),
        (upload(CORRECT), {"device": "B200"}, (400, "device_not_offered")),
        (upload(CORRECT), {"device": "H100"}, (400, "device_not_offered")),
        (upload(CORRECT), {"mode": "fastest"}, (422, "invalid_request")),
        (upload(CORRECT), {"board": "a\x00b"}, (422, "invalid_request")),
        (upload(b"\xff\xfe"), {}, (422, "invalid_submission")),
        (upload(b""), {}, (422, "invalid_submission")),
        (upload(b"x = '\x00'"), {}, (422, "invalid_submission")),
        (upload(name="a.exe"), {}, (422, "invalid_submission")),
        (upload(name="a\nb.py"), {}, (422, "invalid_submission")),
        (upload(name="../../a.py"), {}, (422, "invalid_submission")),
        (upload(b"#" * ((1 << 20) + 1)), {}, (413, "submission_too_large")),
        (upload(b"#" * (2 << 20)), {}, (413, "body_too_large")),
        ({"other": ("a.py", CORRECT)}, {}, (422, "invalid_request")),
    ],
)
async def test_what_is_not_taken(
    door: Door, files: Files, fields: dict[str, str], expected: tuple[int, str]
) -> None:
    await door.world.board()
    answer = await send(door.ada, files, **fields)
    assert expected == (answer.status_code, answer.json()["code"])


async def test_a_passed_deadline(door: Door) -> None:
    board = await door.world.board()
    async with door.world.database.write() as session:
        await session.do(
            "UPDATE leaderboards SET deadline = now() - interval '1 day' WHERE id = %(id)s",
            {"id": board.id},
        )
    answer = await send(door.ada)
    assert (403, "deadline_passed") == (answer.status_code, answer.json()["code"])


async def test_an_author_reads_their_own(door: Door) -> None:
    submission = await a_submission(door)
    answer = await door.ada.get(f"/api/v1/submissions/{submission.id}")
    assert (200, submission.id) == (answer.status_code, answer.json()["id"])


async def test_nobody_reads_another_s(door: Door) -> None:
    submission = await a_submission(door)
    answers = [
        await door.bob.get(f"/api/v1/submissions/{submission.id}"),
        await door.bob.get(f"/api/v1/submissions/{submission.id}/events"),
        await door.bob.post(f"/api/v1/submissions/{submission.id}/cancel"),
    ]
    assert [403, 403, 403] == [answer.status_code for answer in answers]


@pytest.mark.parametrize(
    ("number", "status"),
    [
        ("1", 404),
        ("9223372036854775807", 404),
        ("9223372036854775808", 422),
        ("99999999999999999999999", 422),
        ("0", 422),
        ("-1", 422),
        ("one", 422),
        ("1.5", 422),
        ("%00", 422),
    ],
)
@pytest.mark.parametrize("path", ["", "/events"])
async def test_a_number_that_is_none(door: Door, number: str, status: int, path: str) -> None:
    answer = await door.ada.get(f"/api/v1/submissions/{number}{path}")
    assert (status, set(ErrorBody.__dataclass_fields__)) == (
        answer.status_code,
        set(answer.json()),
    )


async def test_a_list_continues_before_its_last(door: Door) -> None:
    await door.world.board()
    ids = [(await door.world.submit()).id for _ in range(3)]
    first = (await door.ada.get("/api/v1/submissions?limit=2")).json()
    second = (
        await door.ada.get(f"/api/v1/submissions?limit=2&before_id={first['next_before_id']}")
    ).json()
    assert (ids[:0:-1], [ids[0]], None) == (
        [one["id"] for one in first["submissions"]],
        [one["id"] for one in second["submissions"]],
        second["next_before_id"],
    )


async def test_a_list_is_of_one_s_own(door: Door) -> None:
    await a_submission(door)
    answer = await door.bob.get("/api/v1/submissions")
    assert {"submissions": [], "next_before_id": None} == answer.json()


async def test_cancelling_twice_is_as_good_as_once(door: Door) -> None:
    submission = await a_submission(door)
    path = f"/api/v1/submissions/{submission.id}/cancel"
    answers = [await door.ada.post(path), await door.ada.post(path)]
    assert [(200, "cancelled")] * 2 == [
        (answer.status_code, answer.json()["state"]) for answer in answers
    ]


async def test_events_of_a_life_that_is_over(door: Door) -> None:
    submission = await a_submission(door)
    await door.world.services.submissions.cancel(door.world.ada.user, submission.id)
    answer = await door.ada.get(f"/api/v1/submissions/{submission.id}/events")
    frames = answer.text.split("\n\n")
    first = json.loads(frames[0].split("data: ")[1])
    assert (
        "text/event-stream; charset=utf-8",
        "queued",
        submission.id,
        "event: end\ndata: {}",
    ) == (
        answer.headers["content-type"],
        first["kind"],
        first["submission_id"],
        frames[-2],
    )


async def test_events_go_on_after_the_last_one_seen(door: Door) -> None:
    submission = await a_submission(door)
    await door.world.services.submissions.cancel(door.world.ada.user, submission.id)
    path = f"/api/v1/submissions/{submission.id}/events"
    everything = (await door.ada.get(path)).text
    answer = await door.ada.get(path, headers={"Last-Event-ID": "1"})
    assert everything.split("\n\n", 1)[1] == answer.text


async def test_a_silent_stream_shows_that_it_lives(door: Door) -> None:
    submission = await a_submission(door)
    reading, told = streamed(door, submission.id)
    await until(lambda: b": still here\n\n" in told)
    await door.world.services.submissions.cancel(door.world.ada.user, submission.id)
    assert ": still here\n\n" in (await reading).text


def streamed(door: Door, submission_id: int) -> tuple[asyncio.Task[httpx.Response], bytearray]:
    """The stream of a submission's events, and what of it has come so far."""
    told = bytearray()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async def tell(message: Message) -> None:
            told.extend(message.get("body", b""))
            await send(message)

        await door.app(scope, receive, tell)

    async def read() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://test", headers=door.ada.headers
        ) as client:
            return await client.get(f"/api/v1/submissions/{submission_id}/events")

    return asyncio.create_task(read()), told


async def test_a_stream_tells_each_change_of_the_place_in_the_queue(door: Door) -> None:
    first = await a_submission(door)
    second = await door.world.submit()
    reading, told_so_far = streamed(door, second.id)
    before = await door.world.services.submissions.queue_position(second.id)
    await until(lambda: 1 == told_so_far.count(b"event: queue\n"))
    await door.world.services.submissions.cancel(door.world.ada.user, first.id)
    await until(lambda: 2 == told_so_far.count(b"event: queue\n"))
    await door.world.services.submissions.cancel(door.world.ada.user, second.id)
    frames = (await reading).text.split("\n\n")
    told = [frame for frame in frames if frame.startswith("event: queue")]
    assert before is not None
    nobody = "no worker serves it just now"
    expected = [
        f'event: queue\ndata: {{"position":{position},"wait_s":null,"note":"{nobody}"}}'
        for position in (before.position, 1)
    ]
    assert (True, expected) == (before.position > 1, told)


async def test_a_stream_ends_once_its_token_has(door: Door) -> None:
    """Without `end`, so that clients ask again, and are told why."""
    submission = await a_submission(door)
    reading, told = streamed(door, submission.id)
    await until(lambda: b"event: queued" in told)
    tokens, ada = door.world.services.tokens, door.world.ada.user
    for token in await tokens.list_tokens(ada):
        await tokens.revoke(ada, token.id)
    await door.world.services.submissions.cancel(door.world.admin.user, submission.id)
    text = (await reading).text
    assert (False, False) == ("event: cancelled" in text, "event: end" in text)


@pytest.mark.parametrize("last", ["-1", "one", "9223372036854775808"])
async def test_a_place_to_resume_that_is_none(door: Door, last: str) -> None:
    submission = await a_submission(door)
    path = f"/api/v1/submissions/{submission.id}/events"
    answer = await door.ada.get(path, headers={"Last-Event-ID": last})
    assert (422, "invalid_request") == (answer.status_code, answer.json()["code"])


async def a_submission(door: Door) -> Submission:
    await door.world.board()
    return await door.world.submit()


async def test_files_of_a_run_are_downloads(door: Door, tmp_path: Path) -> None:
    await door.world.board()
    sent = await door.world.submit(mode=Mode.PROFILE, content=b"# fake: accepted\n")
    async with working(quick_settings(tmp_path), door.world.database.url):
        await finished(door.world, sent.id)
    base = f"/api/v1/submissions/{sent.id}/artifacts"
    found = (await door.ada.get(base)).json()["artifacts"]
    answers = [await door.ada.get(f"{base}/{item['run_id']}/{item['name']}") for item in found]
    assert [
        ("application/octet-stream", b"<svg>"),  # what a browser might run is mere bytes
        ("application/octet-stream", b"<script>"),
        ("application/gzip", b"\x1f\x8b"),
        ("text/plain; charset=utf-8", b"a table"),
    ] == [(answer.headers["content-type"], answer.content) for answer in answers]
    assert ['attachment; filename="2-_a___echo_x"', "nosniff"] == [
        answers[0].headers[name] for name in ("content-disposition", "x-content-type-options")
    ]
    url = f"{base}/{found[0]['run_id']}/{found[0]['name']}"
    assert [403, 404, 422, 422] == [
        (await door.bob.get(url)).status_code,
        (await door.ada.get(f"{base}/{found[0]['run_id']}/absent")).status_code,
        (await door.ada.get(f"{base}/{found[0]['run_id']}/.hidden")).status_code,
        (await door.ada.get(f"{base}/{found[0]['run_id']}/a%0Ab")).status_code,
    ]
