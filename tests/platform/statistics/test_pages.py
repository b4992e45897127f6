"""Statistics, their charts, and exports."""

import pytest

from tests.support.office import Office
from tests.support.ranked import ranked

HERE = "/organise/statistics"


async def test_a_creator_sees_the_numbers_of_their_board(office: Office) -> None:
    await ranked(office.front.world, 1e-3)
    await office.front.world.submit(board="other")
    mine = (await office.maker.get(HERE)).text
    everything = (await office.front.admin.get(HERE)).text
    assert [True, True] == [
        f"<dt>Submissions</dt><dd>{count}</dd>" in page
        for count, page in ((1, mine), (2, everything))
    ]


# Each run has test_charts_become_pictures_in_one_process (drawing/test_drawing.py) (test_embeds.py)
@pytest.mark.exhaustive
@pytest.mark.parametrize("shown", ["outcomes", "times"])
async def test_the_charts_are_pictures(office: Office, shown: str) -> None:
    await ranked(office.front.world, 1e-3)
    answer = await office.maker.get(f"{HERE}/{shown}.svg?board=sort&theme=dark")
    assert (200, "image/svg+xml", True) == (
        answer.status_code,
        answer.headers["content-type"],
        ">CPU<" in answer.text or shown == "times",
    )


async def test_an_export_is_a_parquet_file(office: Office) -> None:
    await ranked(office.front.world, 1e-3)
    answer = await office.post("/organise/export", board="sort")
    assert (200, b"PAR1") == (answer.status_code, answer.content[:4])


async def test_an_export_is_csv_if_asked_for(office: Office) -> None:
    await ranked(office.front.world, 1e-3)
    answer = await office.post("/organise/export", board="sort", format="csv")
    assert (200, "text/csv; charset=utf-8", b"submission,board") == (
        answer.status_code,
        answer.headers["content-type"],
        answer.content[:16],
    )


UPLOADS: list[tuple[dict[str, str], int]] = [
    ({"board": "sort", "name": "sort.parquet"}, 400),  # no dataset is configured
    ({"board": "sort", "name": "../x"}, 400),
    ({"board": "other", "name": "x.parquet"}, 403),
    ({"name": "x.parquet"}, 403),
    ({"board": "nothing"}, 400),
]


async def test_a_wrong_upload_is_refused(office: Office) -> None:
    answers = [await office.post("/organise/export/hub", **form) for form, _ in UPLOADS]
    assert [status for _, status in UPLOADS] == [one.status_code for one in answers]


async def test_they_are_for_the_boards_organisers(office: Office) -> None:
    answers = [
        await office.front.ada.get(HERE),
        await office.maker.get(f"{HERE}?board=other"),
        await office.maker.get(f"{HERE}/outcomes.svg"),
        await office.front.ada.get(f"{HERE}/outcomes.svg?board=sort"),
        await office.post("/organise/export", board="other"),
        await office.post("/organise/export", office.front.ada, board="sort"),
        await office.maker.post("/organise/export", data={"board": "sort", "csrf": "0" * 64}),
    ]
    assert [403] * 7 == [one.status_code for one in answers]


QUERIES = [
    (f"{HERE}?board=nothing", 404),
    (f"{HERE}?last_day=maybe", 422),
    (f"{HERE}/outcomes.svg?board=sort", 404),
    (f"{HERE}/nothing.svg", 422),
]


async def test_a_query_from_nowhere_is_a_page(office: Office) -> None:
    answers = [(await office.maker.get(query)) for query, _ in QUERIES]
    assert [status for _, status in QUERIES] == [one.status_code for one in answers]
    assert [] == [one.url for one in answers if "<script>" in one.text]
