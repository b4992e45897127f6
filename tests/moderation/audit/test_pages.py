"""The log."""

import re

from tests.support.office import Office

HERE = "/organise/audit"


async def test_it_shows_who_did_what(office: Office) -> None:
    await office.admin_posts("/organise/queue/pause", reason="<script>\u202enoon")
    text = (await office.front.admin.get(f"{HERE}?action=platform&actor=root")).text
    shown = ["platform.pause", "<bdi>root</bdi>", "reason: &lt;script&gt;\\u202enoon"]
    assert ([], False) == ([one for one in shown if one not in text], "board.create" in text)


async def test_pages_go_on_where_the_last_one_ended(office: Office) -> None:
    for number in range(51):
        await office.front.world.services.platform.pause(
            office.front.world.admin.user, f"pause {number}."
        )
    first = (await office.front.admin.get(f"{HERE}?subject=platform")).text
    (further,) = re.findall(r'rel="next" class="button plain" href="([^"]+)"', first)
    second = (await office.front.admin.get(further.replace("&amp;", "&"))).text
    assert (["pause 50.", "pause 1."], ["pause 0."]) == (
        [re.findall(r"pause \d+\.", first)[at] for at in (0, -1)],
        re.findall(r"pause \d+\.", second),
    )


QUERIES = [
    (f"before={10**18}", 200),
    (f"before={10**30}", 422),
    ("actor=%00", 200),
    ("action=<script>&subject=a'; echo x", 200),
]


async def test_a_query_from_nowhere_is_a_page(office: Office) -> None:
    answers = [(await office.front.admin.get(f"{HERE}?{query}")) for query, _ in QUERIES]
    assert [status for _, status in QUERIES] == [one.status_code for one in answers]
    assert [] == [one.url for one in answers if "<script>" in one.text]


async def test_it_is_for_admins(office: Office) -> None:
    browsers = (office.front.stranger, office.front.ada, office.maker)
    assert [303, 403, 403] == [(await one.get(HERE)).status_code for one in browsers]
