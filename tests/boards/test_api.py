import csv
import io
from dataclasses import replace

import pytest

from kernelbot.boards.model import Difficulty, Visibility
from kernelbot.boards.schemas import problem_to_wire
from kernelbot.boards.service import BoardEdit
from kernelbot.schemas.errors import ErrorBody
from tests.support.door import Door
from tests.support.problems import sort_problem
from tests.support.ranked import ranked


def new_board(name: str = "sort") -> dict[str, object]:
    return {"name": name, "problem": problem_to_wire(sort_problem()), "devices": ["CPU"]}


async def test_an_admin_opens_a_board(door: Door) -> None:
    answer = await door.admin.post("/api/v1/boards", json=new_board())
    board = answer.json()
    assert (201, "sort", ["CPU"]) == (answer.status_code, board["name"], board["devices"])


async def test_strangers_see_public_boards(door: Door) -> None:
    await door.world.board()
    answer = await door.stranger.get("/api/v1/boards")
    assert ["sort"] == [board["name"] for board in answer.json()["boards"]]


async def test_each_answer_says_what_a_boards_problem_is_about(door: Door) -> None:
    problem = replace(
        sort_problem(), summary="Fast.", difficulty=Difficulty.EASY, tags=("sort", "c++")
    )
    body = new_board() | {"problem": problem_to_wire(problem)}
    made = await door.admin.post("/api/v1/boards", json=body)
    changed = await door.admin.patch("/api/v1/boards/sort", json={"reveal_code": True})
    shown = await door.stranger.get("/api/v1/boards/sort")
    listed = (await door.stranger.get("/api/v1/boards")).json()["boards"]
    said = [one["about"] for one in (made.json(), changed.json(), shown.json(), *listed)]
    expected = {"sentence": "Fast.", "lang": "py", "difficulty": "easy", "tags": ["sort", "c++"]}
    assert [expected] * 4 == said


async def test_a_board_is_found_in_any_case_of_letters(door: Door) -> None:
    await door.world.board()
    answer = await door.stranger.get("/api/v1/boards/SoRt")
    assert "sort" == answer.json()["name"]


async def test_the_statement_has_starter_files_but_no_reference(door: Door) -> None:
    await door.world.board()
    answer = await door.stranger.get("/api/v1/boards/sort/problem")
    assert (["Python"], False) == (
        list(answer.json()["templates"]),
        "generate_input" in answer.text,
    )


async def test_a_new_board_ranks_nobody(door: Door) -> None:
    await door.world.board()
    answer = await door.stranger.get("/api/v1/boards/sort/standings")
    expected = {"board": "sort", "device": "CPU", "total": 0, "standings": []}
    assert expected == answer.json()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("boards/none", (404, "not_found")),
        ("boards/none/standings", (404, "not_found")),
        ("boards/a'; echo x", (404, "not_found")),
        ("boards/%00", (422, "invalid_request")),
        ("boards/sort/standings?device=B200", (400, "device_not_offered")),
        ("boards/sort/standings?limit=0", (422, "invalid_request")),
        ("boards/sort/standings?limit=101", (422, "invalid_request")),
        ("boards/sort/standings?offset=9223372036854775808", (422, "invalid_request")),
        ("boards/sort/standings?offset=9223372036854775807", (200, None)),
        ("boards/sort/standings?device=%00", (422, "invalid_request")),
    ],
)
async def test_a_question_that_can_not_be_answered(
    door: Door, path: str, expected: tuple[int, str | None]
) -> None:
    await door.world.board()
    answer = await door.stranger.get(f"/api/v1/{path}")
    assert expected == (answer.status_code, answer.json().get("code"))


async def test_a_competitor_opens_no_board(door: Door) -> None:
    answer = await door.ada.post("/api/v1/boards", json=new_board())
    assert (403, "not_allowed") == (answer.status_code, answer.json()["code"])


async def test_a_name_is_taken_once(door: Door) -> None:
    await door.world.board()
    answer = await door.admin.post("/api/v1/boards", json=new_board("SORT"))
    assert (409, "conflict") == (answer.status_code, answer.json()["code"])


async def test_a_board_on_a_device_that_is_not_there(door: Door) -> None:
    body = {**new_board(), "devices": ["B200"]}
    answer = await door.admin.post("/api/v1/boards", json=body)
    assert (400, True) == (answer.status_code, "B200" in answer.json()["detail"])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"name": "x"}',
        b'{"name": "x", "problem": {}}',
        b'{"name": "x", "problem": {"version": 99}}',
        b'{"name": "x", "problem": []}',
        b'{"name": "a\\u0000", "problem": {}}',
        b'{"name": "\\ud800", "problem": {}}',
        b'{"name": "x", "problem": {"description": NaN}}',
        b'{"name": "x", "problem": {}, "deadline": "2027-01-31T00:00:00"}',
        b'{"name": "x", "problem": {}, "surprise": 1}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
async def test_a_board_that_is_none(door: Door, body: bytes) -> None:
    answer = await door.admin.post(
        "/api/v1/boards", content=body, headers={"Content-Type": "application/json"}
    )
    assert (True, set(ErrorBody.__dataclass_fields__)) == (
        answer.status_code in (400, 422),
        set(answer.json()),
    )


async def test_a_problem_may_be_larger_than_a_submission(door: Door) -> None:
    body = new_board()
    problem = problem_to_wire(sort_problem())
    text = "x" * (1 << 20)
    problem["spec"]["files"] += [{"name": name, "text": text} for name in ("a.py", "b.py")]
    answer = await door.admin.post("/api/v1/boards", json={**body, "problem": problem})
    assert 201 == answer.status_code


async def test_a_problem_has_a_limit_too(door: Door) -> None:
    answer = await door.admin.post("/api/v1/boards", content=b" " * ((16 << 20) + 1))
    assert (413, "body_too_large") == (answer.status_code, answer.json()["code"])


async def test_a_whole_ranking_as_csv_has_no_formula(door: Door) -> None:
    await door.world.board()
    formula = (await door.world.services.users.create('=HYPERLINK("x")')).user
    await ranked(door.world, 2e-3)
    await ranked(door.world, 1e-3, author=formula)
    answer = await door.stranger.get("/api/v1/boards/SORT/standings.csv")
    found = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert 'attachment; filename="sort-CPU.csv"' == answer.headers["content-disposition"]
    assert [("1", '\'=HYPERLINK("x")', 1e-3), ("2", "ada", 2e-3)] == [
        (row["rank"], row["author"], float(row["score_s"])) for row in found
    ]


async def test_a_ranking_as_csv_is_hidden_as_its_board_is(door: Door) -> None:
    await door.world.board()
    await door.world.services.boards.edit(
        door.world.admin.user, "sort", BoardEdit(visibility=Visibility.CLOSED)
    )
    answers = [
        await door.stranger.get(f"/api/v1/boards/{path}")
        for path in ("sort/standings.csv", "none/standings.csv")
    ]
    assert [404, 404] == [one.status_code for one in answers]


async def test_a_board_that_is_not_there_says_what_to_do_next(door: Door) -> None:
    answer = await door.ada.get("/api/v1/boards/nope")
    message, hint = "There is no board named 'nope'.", "See `GET /api/v1/boards`."
    assert {
        "detail": f"{message} {hint}",
        "code": "not_found",
        "message": message,
        "next": "list_boards",
        "hint": hint,
    } == answer.json()
