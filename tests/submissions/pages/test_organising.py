"""Everybody's submissions."""

import re
from urllib.parse import quote

import pytest

from kernelbot.protocol import Mode
from tests.support.office import Office
from tests.support.ranked import ranked

HERE = "/organise/submissions"


def numbers(text: str) -> list[int]:
    return [int(found) for found in re.findall(r'href="/organise/submission/(\d+)"', text)]


@pytest.mark.exhaustive  # each run has test_all_of_a_person_are_deleted_if_their_name_is_typed
async def test_they_are_narrowed_by_board_author_device_and_state(office: Office) -> None:
    world = office.front.world
    done = await ranked(world, 1e-3)
    waits = (await world.submit(world.bob.user, mode=Mode.TEST)).id
    elsewhere = (await world.submit(board="other", mode=Mode.TEST)).id
    found = {
        query: numbers((await office.front.admin.get(f"{HERE}?{query}")).text)
        for query in (
            "",
            "board=SORT",
            "user=ada",
            "board=sort&user=bob",
            "state=queued",
            "state=finished&device=cpu",
            "device=H100",
            "state=queued&board=sort&user=bob&device=CPU",
            "state=running",
        )
    }
    assert [
        [elsewhere, waits, done],
        [waits, done],
        [elsewhere, done],
        [waits],
        [elsewhere, waits],
        [done],
        [],
        [waits],
        [],
    ] == list(found.values())


@pytest.mark.exhaustive  # each run has test_all_of_a_person_are_deleted_if_their_name_is_typed
async def test_pages_go_on_where_the_last_one_ended(office: Office) -> None:
    world = office.front.world
    sent = [(await world.submit(mode=Mode.TEST, content=b"# %d" % n)).id for n in range(52)]
    first = (await office.maker.get(f"{HERE}?state=queued")).text
    (further,) = re.findall(r'rel="next" class="button plain" href="([^"]+)"', first)
    second = (await office.maker.get(further.replace("&amp;", "&"))).text
    assert (sent[:1:-1], sent[1::-1]) == (numbers(first), numbers(second))
    assert 'rel="next"' not in second


async def test_a_creator_sees_their_own_boards(office: Office) -> None:
    world = office.front.world
    mine = (await world.submit(mode=Mode.TEST)).id
    await world.submit(board="other", mode=Mode.TEST)
    answers = [await office.maker.get(f"{HERE}{query}") for query in ("", "?board=other")]
    assert ([200, 403], [mine]) == (
        [one.status_code for one in answers],
        numbers(answers[0].text),
    )


QUERIES = [
    ("state=<script>", 200),
    ("state=" + "x" * 100, 422),
    (f"before={10**18}", 200),
    (f"before={10**30}", 422),
    ("before=-1", 422),
    ("user=nobody", 404),
    ("user=%00", 200),
    ("user=" + quote("a'; echo x"), 404),
    ("user=" + "x" * 1000, 422),
    ("device=<script>%00", 200),
    ("board=nothing", 404),
]


async def test_a_query_from_nowhere_is_a_page(office: Office) -> None:
    answers = [(await office.front.admin.get(f"{HERE}?{query}")) for query, _ in QUERIES]
    assert [status for _, status in QUERIES] == [one.status_code for one in answers]
    assert [] == [one.url for one in answers if "<script>" in one.text]


async def test_a_hostile_file_name_stays_text(office: Office) -> None:
    await office.front.world.submit(mode=Mode.TEST, file_name="<img src=x>'.py")
    text = (await office.maker.get(HERE)).text
    assert (True, False) == ("&lt;img src=x&gt;&#39;.py" in text, "<img src=x" in text)


async def test_they_are_not_for_competitors(office: Office) -> None:
    browsers = (office.front.stranger, office.front.ada)
    assert [303, 403] == [(await one.get(HERE)).status_code for one in browsers]


async def test_all_of_a_person_are_deleted_if_their_name_is_typed(office: Office) -> None:
    world, path = office.front.world, f"{HERE}/delete"
    theirs = (await world.submit(mode=Mode.TEST)).id
    kept = [
        (await world.submit(board="other", mode=Mode.TEST)).id,
        (await world.submit(world.bob.user, mode=Mode.TEST)).id,
    ]
    form = {"board": "sort", "user": "ada"}
    shown = (await office.maker.get(f"{HERE}?board=sort&user=ada")).text
    wrong = [
        await office.post(path, **form, name="bob"),
        await office.post(path),
        await office.post(path, board="other", user="ada", name="ada"),
        await office.post(path, office.front.ada, **form, name="ada"),
        await office.maker.post(path, data={**form, "name": "ada", "csrf": "0" * 64}),
    ]
    before = numbers((await office.front.admin.get(HERE)).text)
    answers = [await office.post(path, **form, name="Ada") for _ in range(2)]
    after = numbers((await office.front.admin.get(HERE)).text)
    assert (True, [400, 400, 403, 403, 403]) == (
        "Delete them all" in shown,
        [one.status_code for one in wrong],
    )
    assert ([303, 404], {theirs}) == (
        [one.status_code for one in answers],
        set(before) - set(after),
    )
    assert sorted(kept) == sorted(after)
