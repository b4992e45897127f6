"""Rejudging."""

import pytest

from tests.support.office import Office
from tests.support.ranked import ranked

HERE = "/organise/board/sort/rejudges"


@pytest.mark.exhaustive  # each run has test_rejudging_is_for_the_boards_organisers
async def test_a_rejudge_is_started_once_and_shows_how_far_it_is(office: Office) -> None:
    await ranked(office.front.world, 1e-3)
    answers = [await office.post(HERE, device="cpu", top="10") for _ in range(2)]
    progress = (await office.maker.get(answers[0].headers["location"])).text
    listed = (await office.maker.get(HERE)).text
    assert [303, 409] == [one.status_code for one in answers]
    shown = ["0 of 1 measured", "<bdi>ada</bdi>", "1.00 ms", "waits", "data-refresh-s"]
    assert [] == [one for one in shown if one not in progress]
    assert (True, "0 of 1</span>") == (
        f'href="{answers[0].headers["location"]}"' in listed,
        "0 of 1</span>" * ("0 of 1</span>" in listed),
    )


async def test_what_has_ended_no_longer_refreshes(office: Office) -> None:
    world = office.front.world
    await ranked(world, 1e-3)
    started = (await office.post(HERE)).headers["location"]
    async with world.database.write() as session:
        await session.do("UPDATE rejudges SET finished_at = now()", {})
    text = (await office.maker.get(started)).text
    assert (True, False) == ("Done" in text, "data-refresh-s" in text)


async def test_one_that_runs_is_ended_once(office: Office) -> None:
    await ranked(office.front.world, 1e-3)
    started = (await office.post(HERE)).headers["location"]
    running = (await office.maker.get(started)).text
    answers = [await office.post(f"{started}/end") for _ in range(2)]
    over = (await office.maker.get(started)).text
    assert [(303, started), (409, None)] == [
        (one.status_code, one.headers.get("location")) for one in answers
    ]
    assert (True, False) == ("End the rejudge" in running, "End the rejudge" in over)
    assert "It was ended: nothing of it counts." in over


FORMS: list[tuple[dict[str, str], int]] = [
    ({}, 409),
    ({"top": "0"}, 400),
    ({"top": "ten'; echo x"}, 400),
    ({"top": "9" * 30}, 400),
    ({"device": "<b>"}, 400),
    ({"device": "H100"}, 400),
]


async def test_a_wrong_form_starts_none(office: Office) -> None:
    answers = [await office.post(HERE, **form) for form, _ in FORMS]
    assert [status for _, status in FORMS] == [one.status_code for one in answers]


async def test_rejudging_is_for_the_boards_organisers(office: Office) -> None:
    await ranked(office.front.world, 1e-3)
    started = (await office.post(HERE)).headers["location"]
    answers = [
        await office.front.ada.get(HERE),
        await office.front.ada.get(started),
        await office.post(HERE, office.front.ada),
        await office.post("/organise/board/other/rejudges"),
        await office.maker.post(HERE, data={"csrf": "0" * 64}),
        await office.post(f"{started}/end", office.front.ada),
        await office.maker.post(f"{started}/end", data={"csrf": "0" * 64}),
    ]
    assert [403] * 7 == [one.status_code for one in answers]


NUMBERS = [(10**18, 404), (10**30, 422), ("x", 422)]


async def test_a_number_from_nowhere_is_a_page(office: Office) -> None:
    answers = [(await office.maker.get(f"{HERE}/{query}")) for query, _ in NUMBERS]
    assert [status for _, status in NUMBERS] == [one.status_code for one in answers]
    assert [] == [one.url for one in answers if "<script>" in one.text]
    ends = [(await office.post(f"{HERE}/{query}/end")) for query, _ in NUMBERS]
    assert [status for _, status in NUMBERS] == [one.status_code for one in ends]
