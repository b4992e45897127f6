"""Webhooks of a board."""

import re

import pytest

from kernelbot.accounts.model import Role
from kernelbot.webhooks.model import Webhook
from tests.support.office import Office

HERE = "/organise/board/sort/webhooks"
ADDRESS = "https://ci.example.org/kernels"


async def webhooks(office: Office) -> list[Webhook]:
    world = office.front.world
    return await world.services.webhooks.list_webhooks(office.maker_token.user, "sort")


async def test_the_secret_is_shown_once(office: Office) -> None:
    made = (await office.post(HERE, url=ADDRESS, event="ranking.record")).text
    (secret,) = re.findall(r"whsec_[A-Za-z0-9+/=]{44}", made)
    (webhook,) = await webhooks(office)
    later = [(await office.maker.get(path)).text for path in (HERE, f"{HERE}/{webhook.id}")]
    assert ([ADDRESS in text for text in later], [True, True]) == (
        [True, True],
        [secret not in text for text in later],
    )
    assert ("ranking.record",) == webhook.events


async def test_a_form_that_is_sent_twice_makes_one(office: Office) -> None:
    answers = [await office.post(HERE, url=ADDRESS) for _ in range(2)]
    assert ([200, 409], 1) == ([one.status_code for one in answers], len(await webhooks(office)))


@pytest.mark.exhaustive  # each run has test_numbers_that_no_webhook_has
async def test_it_is_tried_and_its_log_says_so(office: Office) -> None:
    await office.post(HERE, url=ADDRESS)
    (webhook,) = await webhooks(office)
    answers = [await office.post(f"{HERE}/{webhook.id}/test") for _ in range(2)]
    shown = (await office.maker.get(f"{HERE}/{webhook.id}")).text
    assert ([303, 409], 1) == ([one.status_code for one in answers], shown.count("webhook.test"))


async def test_a_deleted_one_is_gone(office: Office) -> None:
    await office.post(HERE, url=ADDRESS)
    (webhook,) = await webhooks(office)
    answers = [await office.post(f"{HERE}/{webhook.id}/delete") for _ in range(2)]
    assert ([303, 404], []) == ([one.status_code for one in answers], await webhooks(office))


@pytest.mark.exhaustive  # each run has test_numbers_that_no_webhook_has
async def test_a_disabled_one_is_told_of_above_the_boards_it_is_of(office: Office) -> None:
    world = office.front.world
    await office.post(HERE, url=ADDRESS)
    (webhook,) = await webhooks(office)
    before = (await office.maker.get("/organise")).text
    async with world.database.write() as session:
        await session.do("UPDATE webhooks SET disabled_at = now(), disabled_reason = '<script>410'")
    other = await world.services.users.create("other-maker", Role.CREATOR)
    browsers = (office.maker, office.front.admin, await office.front.browser(other))
    pages = [(await one.get("/organise")).text for one in browsers]
    link = f'href="{HERE}/{webhook.id}"'
    assert [False, True, True, False] == [link in page for page in (before, *pages)]
    assert ("&lt;script&gt;410" in pages[0], "<script>410" in pages[0]) == (True, False)


@pytest.mark.exhaustive  # each run has test_numbers_that_no_webhook_has
async def test_who_has_too_many_reads_what_to_do_about_that(office: Office) -> None:
    several = [await office.post(HERE, url=f"{ADDRESS}/{number}") for number in range(21)]
    again = await office.post(HERE, url=f"{ADDRESS}/1")
    assert [200] * 20 + [409] == [one.status_code for one in several]
    refused = several[-1].text
    assert ("Delete some on the pages" in refused, "secret" in refused) == (True, False)
    assert (409, True) == (again.status_code, "If its secret is lost" in again.text)


FORMS: list[tuple[dict[str, str], int]] = [
    ({"url": ""}, 400),
    ({"url": "javascript:alert(1)"}, 400),
    ({"url": "http://127.0.0.1/"}, 400),
    ({"url": "https://ci.example.org/\x00"}, 400),
    ({"url": "https://ci.example.org/" + "a" * 3000}, 422),
    ({"url": ADDRESS, "event": "everything"}, 422),
    ({"url": ADDRESS, "event": "webhook.test"}, 400),
]


async def test_a_wrong_form_makes_none(office: Office) -> None:
    answers = [await office.post(HERE, **form) for form, _ in FORMS]
    assert [status for _, status in FORMS] == [one.status_code for one in answers]
    assert [] == await webhooks(office)


@pytest.mark.exhaustive  # each run has test_numbers_that_no_webhook_has
async def test_they_are_for_the_boards_organisers(office: Office) -> None:
    await office.post(HERE, url=ADDRESS)
    front = office.front
    (webhook,) = await webhooks(office)
    paths = (HERE, f"{HERE}/{webhook.id}")
    seen = [(await front.ada.get(path)).status_code for path in paths]
    elsewhere = await office.maker.get(f"/organise/board/other/webhooks/{webhook.id}")
    others = [
        await office.post(HERE, front.ada, url="https://b.example.org/"),
        await office.post(f"{HERE}/{webhook.id}/delete", front.ada),
        await office.maker.post(HERE, data={"url": ADDRESS, "csrf": "0" * 64}),
        await office.admin_posts(f"/organise/board/other/webhooks/{webhook.id}/delete"),
    ]
    assert ([403, 403], 403) == (seen, elsewhere.status_code)
    assert [403, 404, 403, 404] == [one.status_code for one in others]
    assert [webhook] == await webhooks(office)


@pytest.mark.parametrize("number", ["0", "-1", "x", "9" * 30, "%00"])
async def test_numbers_that_no_webhook_has(office: Office, number: str) -> None:
    assert 422 == (await office.maker.get(f"{HERE}/{number}")).status_code
