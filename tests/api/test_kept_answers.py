"""A cached answer is never older than its submission."""

from pathlib import Path
from typing import Any, LiteralString

import pytest
from starlette.types import Receive, Scope, Send

from kernelbot.accounts.tokens.text import token_hash
from kernelbot.api.answers import MAX_KEPT_BYTES
from kernelbot.api.app import create_app
from kernelbot.api.dependencies import BELONGS_TO
from kernelbot.schemas.values import from_json, to_json
from kernelbot.submissions.answers import SubmissionList
from tests.support.door import Door, client_of
from tests.support.workers import finished, quick_settings, working

FINISHED = (
    "UPDATE runs SET state = 'finished', verdict = 'accepted', score_s = 1, finished_at = now()"
)
ASKED = 4
"""After three times an answer is known: it was made, made again, and found by one look."""
RANKED = "SELECT refresh_standing(leaderboard_id, 'CPU', author_id) FROM submissions"


async def do(door: Door, *statements: str) -> None:
    async with door.world.database.write() as session:
        for statement in statements:
            await session.do(statement)


async def shown(door: Door, number: int) -> Any:
    return (await door.ada.get(f"/api/v1/submissions/{number}")).json()


@pytest.mark.parametrize("path", ["/api/v1/submissions/1", "/api/v1/submissions"])
@pytest.mark.parametrize(
    "change",
    [
        ("UPDATE runs SET state = 'dispatched'", "UPDATE runs SET state = 'running'"),
        (FINISHED,),
        (FINISHED, RANKED),
        ("UPDATE runs SET attempts = 2",),
        ("UPDATE runs SET state = 'cancelled', finished_at = now()",),
        (FINISHED, "UPDATE submissions SET review = 'refused', review_reason = 'cheated'"),
        ("UPDATE users SET name = 'lovelace' WHERE name = 'ada'",),
        ("UPDATE leaderboards SET name = 'sorting'",),
    ],
)
async def test_an_answer_shows_what_has_changed(
    door: Door, change: tuple[str, ...], path: str
) -> None:
    await door.world.board()
    await door.world.submit()
    before = [(await door.ada.get(path)).json() for _ in range(ASKED)]
    await do(door, *change)
    async with client_of(create_app(door.world.services), door.world.ada) as elsewhere:
        unkept = (await elsewhere.get(path)).json()
    after = [(await door.ada.get(path)).json() for _ in range(ASKED)]
    assert ([before[0]] * ASKED, [unkept] * ASKED) == (before, after)
    assert before[0] != unkept


@pytest.mark.exhaustive  # each run has test_an_answer_shows_what_has_changed
@pytest.mark.parametrize("path", ["/api/v1/submissions", "/user/submissions"])
async def test_a_list_tells_why_of_now_when_something_else_has_changed(
    door: Door, path: str
) -> None:
    """What is listed stays as it is; what it is compared with doesn't."""
    await door.world.board()
    first, second = [(await door.world.submit()).id for _ in range(2)]
    known = "UPDATE submissions SET code_sha256 = source_sha256"
    await do(door, FINISHED, known, RANKED)
    cli = {"X-Popcorn-Cli-Id": door.world.ada.token}
    organisers = door.world.services
    seen = [(await door.ada.get(path, headers=cli)).json() for _ in range(ASKED)]
    await organisers.deletion.delete_submission(door.world.admin.user, first)
    seen.append((await door.ada.get(path, headers=cli)).json())
    await organisers.users.ban(door.world.admin.user, door.world.ada.user.id)
    seen.append((await door.ada.get(path, headers=cli)).json())
    await organisers.reviews.refuse(door.world.admin.user, second, "copied")
    seen.append((await door.ada.get(path, headers=cli)).json())
    async with client_of(create_app(door.world.services), door.world.ada) as elsewhere:
        assert (await elsewhere.get(path, headers=cli)).json() == seen[-1]
    reasons = [_reason_of(answer, second) for answer in seen]
    assert [*["same_code"] * ASKED, None, "banned", "refused"] == reasons


def _reason_of(answer: Any, number: int) -> str | None:
    entries = answer["submissions"] if isinstance(answer, dict) else answer
    (entry,) = [each for each in entries if each["id"] == number]
    return entry["not_ranked"] and str(entry["not_ranked"]["reason"])


async def test_a_list_is_what_its_model_says(door: Door) -> None:
    await door.world.board()
    for _ in range(3):
        await door.world.submit()
    for _ in range(2):
        answer = await door.ada.get("/api/v1/submissions", params={"limit": 2})
        as_listed = from_json(SubmissionList, answer.content)
        assert answer.content == to_json(SubmissionList, as_listed)


async def test_an_answer_shows_the_place_in_the_queue_of_now(door: Door) -> None:
    await door.world.board()
    first, second = [(await door.world.submit()).id for _ in range(2)]
    places = [(await shown(door, second))["queue_position"] for _ in range(ASKED)]
    await door.ada.post(f"/api/v1/submissions/{first}/cancel")
    places.append((await shown(door, second))["queue_position"])
    assert [*[3] * ASKED, 1] == places


async def test_an_answer_shows_the_rank_of_now(door: Door) -> None:
    await door.world.board()
    await door.world.submit()
    await do(door, FINISHED, RANKED)
    places = [(await shown(door, 1))["place"] for _ in range(ASKED)]
    await door.world.submit(door.world.bob.user, content=b"# faster\n")
    await do(door, FINISHED.replace("1,", "0.1,") + " WHERE submission_id = 2", RANKED)
    places.append((await shown(door, 1))["place"])
    assert [*[1] * ASKED, 2] == places


@pytest.mark.exhaustive  # each run has test_an_answer_shows_the_rank_of_now
async def test_what_is_secret_is_kept_for_organisers_alone(door: Door, tmp_path: Path) -> None:
    await door.world.board()
    number = (await door.world.submit(content=b"# fake: accepted\n")).id
    async with working(quick_settings(tmp_path), door.world.database.url):
        await finished(door.world, number)
    path = f"/api/v1/submissions/{number}"
    seen = [
        [run["result"]["stdout"] != "" for run in (await person.get(path)).json()["runs"]]
        for person in (door.ada, door.admin) * ASKED
    ]
    assert [[True, False], [True, True]] * ASKED == seen


async def test_an_answer_is_kept_for_those_alone_who_may_see_it(door: Door) -> None:
    await door.world.board()
    number = (await door.world.submit()).id
    for _ in range(ASKED):
        await shown(door, number)
    assert 403 == (await door.bob.get(f"/api/v1/submissions/{number}")).status_code


async def test_what_was_deleted_is_not_found_again(door: Door) -> None:
    await door.world.board()
    number = (await door.world.submit()).id
    for _ in range(ASKED):
        await shown(door, number)
    await do(door, "DELETE FROM submissions")
    assert "not_found" == (await shown(door, number))["code"]


@pytest.mark.parametrize(("length", "kept"), [(10, True), (MAX_KEPT_BYTES, False)])
async def test_answers_of_a_usual_length_are_kept(door: Door, length: int, kept: bool) -> None:
    """Shown by changing the code directly in the database, which the platform never does."""
    await door.world.board()
    number = (await door.world.submit(content=b"#" * length)).id
    before = (await shown(door, number))["code"]
    await do(door, "UPDATE sources SET content = 'other'")
    assert (before if kept else "other") == (await shown(door, number))["code"]


async def test_a_page_of_the_ranking_shows_what_has_changed(door: Door) -> None:
    board = await door.world.board()
    await door.world.submit()
    await do(door, FINISHED, RANKED)
    path = f"/api/v1/boards/{board.name}/standings"
    before = [(await door.stranger.get(path)).json() for _ in range(2)]
    await do(door, "UPDATE users SET name = 'lovelace' WHERE name = 'ada'")
    await do(door, "UPDATE leaderboards SET name = 'Sort'")
    after = (await door.stranger.get(path)).json()
    assert [("sort", "ada"), ("sort", "ada"), ("Sort", "lovelace")] == [
        (page["board"], page["standings"][0]["author"]) for page in (*before, after)
    ]


PATHS = ("/api/v1/submissions/1", "/api/v1/submissions", "/api/v1/submissions?board=SORT&limit=2")


async def known(door: Door, path: str) -> Any:
    """What the path answers once one look finds it."""
    answers = door.app.state.answers
    for _ in range(ASKED):
        answer = (await door.ada.get(path)).json()
    assert (answers.own.has("1"), len(answers.pages_asked._kept)) != (False, 0)
    return answer


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "ends",
    [
        "UPDATE tokens SET revoked_at = now() WHERE hash = %(hash)s",
        "UPDATE tokens SET expires_at = now() WHERE hash = %(hash)s",
        "DELETE FROM tokens WHERE hash = %(hash)s",
    ],
)
async def test_a_known_answer_is_for_tokens_that_are_valid(
    door: Door, path: str, ends: LiteralString
) -> None:
    await door.world.board()
    await door.world.submit()
    await known(door, path)
    async with door.world.database.write() as session:
        await session.do(ends, {"hash": token_hash(door.world.ada.token)})
    assert 401 == (await door.ada.get(path)).status_code


@pytest.mark.parametrize("path", PATHS)
async def test_a_known_answer_is_its_authors(door: Door, path: str) -> None:
    await door.world.board()
    await door.world.submit()
    answer = await known(door, path)
    others = [(await person.get(path)).json() for person in (door.bob, door.stranger)]
    assert answer not in others


@pytest.mark.parametrize("path", PATHS[:2])
async def test_a_known_answer_is_on_one_of_its_owners_connections(door: Door, path: str) -> None:
    await door.world.board()
    await door.world.submit()
    await known(door, path)

    async def full(scope: Scope, receive: Receive, send: Send) -> None:
        await door.app({**scope, "state": {BELONGS_TO: lambda _: False}}, receive, send)

    async with client_of(full, door.world.ada) as client:
        assert 429 == (await client.get(path)).status_code


CHANGES = {
    "who sees the board": "UPDATE leaderboards SET visibility = 'closed'",
    "the leader's name": "UPDATE users SET name = 'babbage' WHERE name = 'bob'",
    "the leader's page": "UPDATE users SET page_is_private = true WHERE name = 'bob'",
    "a review": "UPDATE submissions SET review_reason = 'copied', review = 'refused' WHERE id = 1",
    "its interval": "UPDATE runs SET ci_low_s = 0.9, ci_high_s = 1.1 WHERE submission_id = 1",
    "its place": "DELETE FROM standings",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
async def test_what_is_known_of_a_ranked_submission_is_what_holds(door: Door, change: str) -> None:
    await door.world.board()
    await door.world.submit()
    await do(door, FINISHED, RANKED)
    await door.world.submit(door.world.bob.user, content=b"# faster\n")
    await do(door, FINISHED.replace("1,", "0.1,") + " WHERE submission_id = 2", RANKED)
    before = await known(door, PATHS[0])
    await do(door, change)
    async with client_of(create_app(door.world.services), door.world.ada) as elsewhere:
        unkept = (await elsewhere.get(PATHS[0])).json()
    assert (unkept, False) == ((await door.ada.get(PATHS[0])).json(), before == unkept)


async def test_a_new_submission_is_on_a_known_page(door: Door) -> None:
    await door.world.board()
    await door.world.submit()
    await known(door, PATHS[1])
    await door.world.submit(content=b"# another\n")
    (first, _) = (await door.ada.get(PATHS[1])).json()["submissions"]
    assert 2 == first["id"]


STANDINGS = "/api/v1/boards/sort/standings?limit=5"
RANKINGS = {
    "a closed board": "UPDATE leaderboards SET visibility = 'closed'",
    "a board's name": "UPDATE leaderboards SET name = 'other'",
    "an author's name": "UPDATE users SET name = 'lovelace' WHERE name = 'ada'",
    "a standing": "DELETE FROM standings",
}


async def known_ranking(door: Door) -> Any:
    """What a person is answered once one look finds it."""
    await door.world.board()
    await door.world.submit()
    await do(door, FINISHED, RANKED)
    for _ in range(ASKED):
        await door.stranger.get(STANDINGS)
        answer = (await door.bob.get(STANDINGS)).json()
    kept = door.app.state.answers.rankings
    assert kept.get(("sort", b"limit=5"), None) is None
    return answer


@pytest.mark.parametrize("change", RANKINGS.values(), ids=RANKINGS.keys())
async def test_a_known_ranking_is_what_holds(door: Door, change: str) -> None:
    before = await known_ranking(door)
    await do(door, change)
    async with client_of(create_app(door.world.services), door.world.bob) as elsewhere:
        unkept = (await elsewhere.get(STANDINGS)).json()
    assert (unkept, False) == ((await door.bob.get(STANDINGS)).json(), before == unkept)


async def test_a_known_ranking_is_for_tokens_that_are_valid(door: Door) -> None:
    await known_ranking(door)
    await do(door, "UPDATE tokens SET revoked_at = now()")
    assert [401, 200] == [
        (await person.get(STANDINGS)).status_code for person in (door.bob, door.stranger)
    ]
