"""Invites to a board."""

import re

from tests.support.office import Office

HERE = "/organise/board/sort/invites"
KEY = "k" * 43


async def codes(office: Office) -> list[str]:
    invites = office.front.world.services.invites
    return [one.code or "" for one in await invites.list_invites(office.maker_token.user, "sort")]


async def test_a_form_that_is_sent_twice_makes_its_invites_once(office: Office) -> None:
    page = (await office.maker.get(HERE)).text
    key = re.findall(r'name="key" value="([^"]+)"', page)[0]
    answers = [await office.post(HERE, key=key, count="3") for _ in range(2)]
    made = await codes(office)
    shown = (await office.maker.get(HERE)).text
    assert ([303, 303], 3) == ([one.status_code for one in answers], len(made))
    assert [] == [code for code in made if code not in shown]


async def test_the_next_form_makes_others(office: Office) -> None:
    for key in (KEY, "j" * 43):
        await office.post(HERE, key=key, count="2")
    assert 4 == len(set(await codes(office)))


async def test_codes_are_downloaded_and_revoked(office: Office) -> None:
    await office.post(HERE, key=KEY, count="2")
    first, second = await codes(office)
    await office.front.world.services.invites.join(office.front.world.ada.user, first)
    file = await office.maker.get(f"{HERE}.txt")
    answers = [await office.post(f"{HERE}/revoke", code=first) for _ in range(2)]
    assert f"{second}\n" == file.text
    assert ([303, 404], [second]) == ([one.status_code for one in answers], await codes(office))


FORMS: list[tuple[dict[str, str], int]] = [
    ({"key": KEY, "count": "0"}, 400),
    ({"key": KEY, "count": str(10**30)}, 400),
    ({"key": KEY, "count": "many"}, 422),
    ({"key": "guessed", "count": "1"}, 422),
    ({"count": "1"}, 422),
]


async def test_a_wrong_form_makes_none(office: Office) -> None:
    answers = [await office.post(HERE, **form) for form, _ in FORMS]
    assert [status for _, status in FORMS] == [one.status_code for one in answers]
    assert [] == await codes(office)


async def test_invites_are_for_the_boards_organisers(office: Office) -> None:
    await office.post(HERE, key=KEY)
    front = office.front
    seen = [(await one.get(HERE)).status_code for one in (front.stranger, front.ada, front.admin)]
    (code,) = await codes(office)
    others = [
        await office.post(HERE, front.ada, key=KEY),
        await office.post(f"{HERE}/revoke", front.ada, code=code),
        await office.post("/organise/board/other/invites", key=KEY),
        await office.maker.post(HERE, data={"key": KEY, "csrf": "0" * 64}),
    ]
    assert [303, 403, 200] == seen
    assert ([403, 404, 403, 403], [code]) == (
        [one.status_code for one in others],
        await codes(office),
    )


async def test_an_invite_that_opens_boards_of_others_is_shown_without_its_code(
    office: Office,
) -> None:
    world = office.front.world
    await world.board("theirs")
    (code,) = (await world.services.invites.create(world.admin.user, ("sort", "theirs"))).codes
    page = (await office.maker.get(HERE)).text
    file = (await office.maker.get(f"{HERE}.txt")).text
    assert (True, False, False, "") == (
        "opens boards of others too" in page,
        code in page,
        "theirs" in page,
        file,
    )
