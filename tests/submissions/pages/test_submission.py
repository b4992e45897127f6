"""A submission's page: who sees it, what it says, and what happens live."""

import itertools
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kernelbot.boards.service import BoardEdit
from kernelbot.client.documents import verify
from kernelbot.protocol import Mode
from tests.fakes.host import ARTIFACTS
from tests.support.front import Front, csrf_for
from tests.support.ranked import ranked
from tests.support.workers import finished, quick_settings, working

HOSTILE = b"# <script>alert(1)</script>\n# \xe2\x80\xaegnp\n# " + b"x" * 100_000 + b"\n"


async def test_a_stranger_is_led_to_the_login_page(front: Front) -> None:
    answer = await front.stranger.get("/submission/1")
    assert (303, "/auth/login?next=%2Fsubmission%2F1") == (
        answer.status_code,
        answer.headers["location"],
    )


async def test_what_is_someone_elses_is_refused(front: Front) -> None:
    await front.world.board()
    number = await ranked(front.world, 1e-3)
    paths = ("", "/live", "/code", "/diff?before=1", "/file/1/a.txt")
    answers = [await front.bob.get(f"/submission/{number}{path}") for path in paths]
    assert [403] * len(paths) == [answer.status_code for answer in answers]


async def test_a_number_from_nowhere_is_a_page(front: Front) -> None:
    numbers = ("0", "-1", "x", str(10**18), str(10**30))
    answers = [await front.ada.get(f"/submission/{number}") for number in numbers]
    assert [(422, True), (422, True), (422, True), (404, True), (422, True)] == [
        (answer.status_code, "<h1>" in answer.text) for answer in answers
    ]


async def test_others_read_the_code_after_the_deadline_if_the_board_says_so(front: Front) -> None:
    await front.world.board()
    number = await ranked(front.world, 1e-3)
    edit = BoardEdit(reveal_code=True, deadline=datetime.now(UTC) + timedelta(hours=1))
    await front.world.services.boards.edit(front.world.admin.user, "sort", edit)
    before = await front.bob.get(f"/submission/{number}")
    async with front.world.database.write() as session:
        await session.do("UPDATE leaderboards SET deadline = now() - interval '1 minute'")
    after = await front.bob.get(f"/submission/{number}")
    assert (403, 200, True) == (before.status_code, after.status_code, "# 0.001" in after.text)


async def test_a_ranked_one_says_its_place_and_an_earlier_one_why_it_has_none(
    front: Front,
) -> None:
    await front.world.board()
    first = await ranked(front.world, 2e-3)
    second = await ranked(front.world, 1e-3)
    placed = (await front.ada.get(f"/submission/{second}")).text
    replaced = (await front.ada.get(f"/submission/{first}")).text
    assert ("Place 1 of 1" in placed, "2.00 times as fast" in placed) == (True, True)
    assert f"submission {second}, sent later, is ranked in its place" in replaced


async def test_a_ranked_score_has_the_interval_of_the_ranking(front: Front) -> None:
    await front.world.board()
    number = await ranked(front.world, 1e-3, relative_error=0.01)
    async with front.world.database.write() as session:
        await session.do("UPDATE runs SET scatter = 0.05, scatter_pairs = 2 WHERE secret")
    page = (await front.ada.get(f"/submission/{number}")).text
    shown = "95 % interval 906 µs to 1.10 ms: 990 µs to 1.01 ms of this judging, and ±9.8 %"
    assert 1 == page.count(shown)


async def test_hostile_code_and_names_stay_text(front: Front) -> None:
    await front.world.board()
    submitted = await front.world.submit(content=HOSTILE, file_name="<script>'; echo x.py")
    answer = await front.ada.get(f"/submission/{submitted.id}")
    assert (200, False, False) == (
        answer.status_code,
        "<script>" in answer.text,
        "\u202e" in answer.text,
    )


async def test_code_is_downloaded_as_it_was_sent(front: Front) -> None:
    await front.world.board()
    submitted = await front.world.submit(content=HOSTILE, file_name="a'b.py")
    answer = await front.ada.get(f"/submission/{submitted.id}/code")
    assert HOSTILE == answer.content
    assert 'attachment; filename="a_b.py"' == answer.headers["content-disposition"]
    assert "text/plain; charset=utf-8" == answer.headers["content-type"]


async def test_two_of_ones_own_are_compared(front: Front) -> None:
    await front.world.board()
    older = await front.world.submit(content=b"a = 1\nb = '<b>'\n")
    newer = await front.world.submit(content=b"a = 2\nb = '<b>'\n")
    page = (await front.ada.get(f"/submission/{newer.id}")).text
    text = (await front.ada.get(f"/submission/{newer.id}/diff?before={older.id}")).text
    assert f"/submission/{newer.id}/diff?before={older.id}" in page
    shown = ["-a = 1", "+a = 2", "&lt;b&gt;"]
    assert [] == [one for one in shown if one not in text]


async def test_files_too_large_to_compare_are_offered_instead(front: Front) -> None:
    await front.world.board()
    older = await front.world.submit(content=b"x\n" * 30_000)
    newer = await front.world.submit(content=b"y\n" * 30_000)
    text = (await front.ada.get(f"/submission/{newer.id}/diff?before={older.id}")).text
    assert "compared: they are too large" in text


async def test_what_happens_is_streamed_in_words(front: Front, tmp_path: Path) -> None:
    await front.world.board()
    async with working(quick_settings(tmp_path), front.world.database.url):
        submitted = await front.world.submit(content=b"# fake: accepted 0.5\n", mode=Mode.TEST)
        streamed = (await front.ada.get(f"/submission/{submitted.id}/live")).text
        shown = (await front.ada.get(f"/submission/{submitted.id}")).text
    frames = [frame.split("\n") for frame in streamed.split("\n\n") if "event: state" in frame]
    states = [json.loads(lines[1].removeprefix("data: ")) for lines in frames]
    assert ("waiting in the queue", "accepted") == tuple(
        states[at]["runs"][0]["text"] for at in (0, -1)
    )
    assert ["Waiting", "Being judged", "Judged"] == [
        headline for headline, _ in itertools.groupby(state["headline"] for state in states)
    ]
    assert streamed.rstrip().endswith("event: end\ndata: {}")
    assert ("data-live" in shown, "Accepted" in shown) == (False, True)


async def test_a_page_of_one_that_is_judged_follows_it(front: Front) -> None:
    await front.world.board()
    submitted = await front.world.submit()
    text = (await front.ada.get(f"/submission/{submitted.id}")).text
    shown = [f'data-live="/submission/{submitted.id}/live"', 'http-equiv="refresh"', "Position 1"]
    assert [] == [one for one in shown if one not in text]


async def test_a_profile_leaves_files_that_no_browser_runs(front: Front, tmp_path: Path) -> None:
    await front.world.board()
    async with working(quick_settings(tmp_path), front.world.database.url):
        submitted = await front.world.submit(content=b"# fake: accepted\n", mode=Mode.PROFILE)
        await finished(front.world, submitted.id)
    page = (await front.ada.get(f"/submission/{submitted.id}")).text
    links = [part.split('"')[0] for part in page.split('href="') if "/file/" in part[:60]]
    answers = [await front.ada.get(link) for link in links]
    assert len(ARTIFACTS) == len(links)
    assert {200} == {answer.status_code for answer in answers}
    kinds = {answer.headers["content-type"].split(";")[0] for answer in answers}
    assert set() == kinds & {"text/html", "image/svg+xml"}


# Each run has test_a_ranked_one_says_its_place_and_an_earlier_one_why_it_has_none
@pytest.mark.exhaustive
async def test_results_are_downloaded_signed_once_there_are_some(
    front: Front, tmp_path: Path
) -> None:
    await front.world.board()
    waiting = await front.world.submit(content=b"# fake: accepted\n")
    link = f"/submission/{waiting.id}/signed"
    before = ((await front.ada.get(link)).status_code, await _links_to(front, link))
    async with working(quick_settings(tmp_path), front.world.database.url):
        await finished(front.world, waiting.id)
    answer = await front.ada.get(link)
    assert ((409, False), True) == (before, await _links_to(front, link))
    assert waiting.id == verify(answer.content).result.submission_id
    assert (
        f'attachment; filename="submission-{waiting.id}.json"'
        == (answer.headers["content-disposition"])
    )
    assert 403 == (await front.bob.get(link)).status_code


async def _links_to(front: Front, link: str) -> bool:
    return f'href="{link}"' in (await front.ada.get(link.removesuffix("/signed"))).text


async def test_an_error_is_shown_below_its_line_and_leads_there(
    front: Front, tmp_path: Path
) -> None:
    await front.world.board()
    crash = 'Traceback (most recent call last):\\n  File "submission.py", line 4, in custom_kernel'
    code = (
        f"# fake: runtime_error\n# tells: {crash}\\nE: <b>\ndef custom_kernel(data):\n    1 / 0\n"
    )
    async with working(quick_settings(tmp_path), front.world.database.url):
        submitted = await front.world.submit(content=code.encode(), mode=Mode.TEST)
        await finished(front.world, submitted.id)
    text = (await front.ada.get(f"/submission/{submitted.id}")).text
    assert '<a href="#L4">Line 4</a> E: &lt;b&gt;' in text
    assert 1 == text.count('<span class="line wrong-line" id="L4">')
    assert '<span class="remark">E: &lt;b&gt;</span>' in text


async def test_the_author_alone_may_go_on_from_there(front: Front) -> None:
    await front.world.board()
    number = await ranked(front.world, 1e-3)
    link = f"/board/sort/submit?begin={number}"
    own, admins = [
        (await browser.get(f"/submission/{number}")).text for browser in (front.ada, front.admin)
    ]
    assert (True, False) == (link in own, link in admins)


async def test_one_that_waits_is_cancelled_by_its_author_alone(front: Front) -> None:
    await front.world.board()
    submitted = await front.world.submit()
    path = f"/submission/{submitted.id}/cancel"
    forged = await front.ada.post(path, data={"csrf": "0" * 64})
    other = await front.bob.post(path, data=csrf_for(front.bob))
    own = await front.ada.post(path, data=csrf_for(front.ada))
    assert (403, 403, 303) == (forged.status_code, other.status_code, own.status_code)
    assert "Cancelled" in (await front.ada.get(f"/submission/{submitted.id}")).text
