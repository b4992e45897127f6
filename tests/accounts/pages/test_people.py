"""People: roles and bans."""

import re

import pytest

from kernelbot.accounts.model import Role, User
from tests.support.office import Office

HERE = "/organise/people"


async def ada(office: Office) -> User:
    world = office.front.world
    return await world.services.users.find(world.admin.user, "ada")


@pytest.mark.exhaustive  # each run has test_an_account_is_deleted_after_its_name_is_typed
async def test_people_are_found_by_a_part_of_their_name(office: Office) -> None:
    await office.front.world.services.users.create("<b>da")
    pages = [
        (await office.front.admin.get(f"{HERE}?{query}")).text
        for query in ("search=da", f"after={10**18}", "search=%00")
    ]
    assert [True, False, True] == ["<bdi>ada</bdi>" in page for page in pages]
    assert ([True, False], False) == (
        ["&lt;b&gt;da" in page for page in pages[:2]],
        "<bdi>bob</bdi>" in pages[0],
    )


async def test_a_ban_is_made_and_ended(office: Office) -> None:
    number = office.front.world.ada.user.id
    await office.admin_posts(f"{HERE}/{number}/ban", reason="<script>cheats")
    banned = await ada(office)
    shown = (await office.front.admin.get(f"{HERE}/{number}?done=banned")).text
    await office.admin_posts(f"{HERE}/{number}/unban", reason="a mistake")
    assert (True, False) == (banned.banned_at is not None, "<script>cheats" in shown)
    assert ("reason: &lt;script&gt;cheats" in shown, None) == (True, (await ada(office)).banned_at)


async def test_roles_change(office: Office) -> None:
    await office.admin_posts(f"{HERE}/{office.front.world.ada.user.id}/role", role="creator")
    assert Role.CREATOR == (await ada(office)).role


@pytest.mark.parametrize(
    ("person", "action", "form", "status"),
    [
        ("root", "ban", {}, 409),
        ("root", "role", {"role": "competitor"}, 409),
        ("ada", "role", {"role": "god"}, 422),
        ("ada", "ban", {"reason": "x" * 20_000}, 422),
    ],
)
async def test_a_wrong_form_changes_nobody(
    office: Office, person: str, action: str, form: dict[str, str], status: int
) -> None:
    world = office.front.world
    before = await world.services.users.find(world.admin.user, person)
    answer = await office.admin_posts(f"{HERE}/{before.id}/{action}", **form)
    after = await world.services.users.find(world.admin.user, person)
    assert (status, before) == (answer.status_code, after)


async def test_an_account_gets_another_name(office: Office) -> None:
    world = office.front.world
    path = f"{HERE}/{world.ada.user.id}/rename"
    wrong = [await office.admin_posts(path, name=name) for name in ("bob", "", "\x00", "x" * 300)]
    answer = await office.admin_posts(path, name=" <b>lady ")
    shown = (await office.front.admin.get(answer.headers["location"])).text
    assert ([409, 400, 400, 422], 303) == ([one.status_code for one in wrong], answer.status_code)
    assert (True, False) == ("The account has its new name." in shown, "<b>" in shown)
    assert "<b>lady" == (await world.services.users.get(world.admin.user, world.ada.user.id)).name


async def test_an_account_is_deleted_after_its_name_is_typed(office: Office) -> None:
    world = office.front.world
    await world.submit()
    path = f"{HERE}/{world.ada.user.id}/delete"
    answers = [await office.admin_posts(path, name=name) for name in ("bob", "Ada", "ada")]
    assert [400, 303, 404] == [answer.status_code for answer in answers]
    shown = (await office.front.admin.get(answers[1].headers["location"])).text
    assert ("The account is deleted" in shown, "<bdi>ada</bdi>" in shown) == (True, False)
    own = f"{HERE}/{world.admin.user.id}/delete"
    assert 409 == (await office.admin_posts(own, name="root")).status_code


async def test_people_are_for_admins(office: Office) -> None:
    number = office.front.world.ada.user.id
    answers = [
        await office.maker.get(HERE),
        await office.maker.get(f"{HERE}/{number}"),
        await office.post(f"{HERE}/{number}/ban"),
        await office.post(f"{HERE}/{number}/rename", name="eve"),
        await office.post(f"{HERE}/{number}/delete", office.front.ada, name="ada"),
        await office.post(f"{HERE}/{number}/role", office.front.ada, role="admin"),
        await office.front.admin.post(f"{HERE}/{number}/ban", data={"csrf": "0" * 64}),
    ]
    assert [403] * 7 == [one.status_code for one in answers]
    assert (None, Role.COMPETITOR) == ((await ada(office)).banned_at, (await ada(office)).role)


NUMBERS = [(10**18, 404), (10**30, 422), ("x", 422)]


async def test_a_number_from_nowhere_is_a_page(office: Office) -> None:
    answers = [(await office.front.admin.get(f"{HERE}/{query}")) for query, _ in NUMBERS]
    assert [status for _, status in NUMBERS] == [one.status_code for one in answers]
    assert [] == [one.url for one in answers if "<script>" in one.text]


async def test_an_account_is_made_once_with_a_token_that_works(office: Office) -> None:
    answers = [await office.admin_posts(HERE, name=" <b>eve ", role="creator") for _ in range(2)]
    (token,) = re.findall(r"<code>(\S+)</code>", answers[0].text)
    made = await office.front.world.services.users.authenticate(token)
    assert ([200, 409], ("<b>eve", Role.CREATOR)) == (
        [one.status_code for one in answers],
        (made.name, made.role),
    )
    assert "<b>eve" not in answers[0].text


async def test_nobody_else_makes_accounts(office: Office) -> None:
    answers = [
        await office.post(HERE, name="eve"),
        await office.post(HERE, office.front.ada, name="eve", role="admin"),
        await office.front.admin.post(HERE, data={"name": "eve", "csrf": "0" * 64}),
        await office.admin_posts(HERE, name="\x00"),
        await office.admin_posts(HERE, name="eve", role="god"),
    ]
    assert [403, 403, 403, 400, 422] == [one.status_code for one in answers]
