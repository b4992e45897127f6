"""Submitting in the browser."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from kernelbot.boards.service import BoardEdit
from kernelbot.protocol import Mode
from tests.support.front import Front, csrf_for
from tests.support.problems import CORRECT
from tests.support.waiting import until_told
from tests.support.workers import quick_settings, working
from tests.support.world import World

FORM = "a-form-of-this-test"


async def send(front: Front, browser: httpx.AsyncClient, **changed: Any) -> httpx.Response:
    """Ada's form with some fields changed."""
    fields = {
        **csrf_for(browser),
        "form": FORM,
        "mode": "test",
        "device": "CPU",
        "name": "fast.py",
        "code": CORRECT.decode(),
    }
    files = changed.pop("files", {})
    return await browser.post("/board/sort/submit", data=fields | changed, files=files)


async def count(front: Front) -> int:
    return len(await front.world.services.submission_lists.own(front.world.ada.user))


async def test_the_form_holds_the_starter_and_the_devices(front: Front) -> None:
    await front.world.board(devices=("CPU", "H100"))
    text = (await front.ada.get("/board/sort/submit")).text
    shown = ["def custom_kernel", 'value="H100"', 'value="leaderboard" checked', 'name="csrf"']
    assert [] == [one for one in shown if one not in text]


async def test_a_stranger_logs_in_first(front: Front) -> None:
    await front.world.board()
    asked = await front.stranger.get("/board/sort/submit")
    sent = await send(front, front.stranger)
    assert (303, 401, 0) == (asked.status_code, sent.status_code, await count(front))


async def test_a_version_of_ones_own_is_begun_with_as_it_was_submitted(front: Front) -> None:
    await front.world.board(devices=("CPU", "H100"))
    sent = await front.world.submit(
        content=b"# mine </textarea>\n", file_name="own.py", mode=Mode.TEST, devices=("H100",)
    )
    page = await front.ada.get(f"/board/sort/submit?begin={sent.id}")
    shown = [
        "# mine &lt;/textarea&gt;",
        'value="own.py"',
        'value="test" checked',
        'value="H100" checked',
        " data-chosen",
    ]
    assert [] == [one for one in shown if one not in page.text]
    assert 'value="CPU" checked' not in page.text


async def test_what_is_not_for_the_viewer_is_not_begun_with(front: Front) -> None:
    await front.world.board()
    sent = await front.world.submit()
    numbers = (sent.id, 4711, 0, "x")
    answers = [await front.bob.get(f"/board/sort/submit?begin={number}") for number in numbers]
    assert [403, 404, 422, 422] == [answer.status_code for answer in answers]


async def test_a_starter_is_chosen_by_its_language(front: Front) -> None:
    await front.world.board()
    chosen = await front.ada.get("/board/sort/submit?starter=Python")
    missing = await front.ada.get("/board/sort/submit?starter=<b>")
    assert (200, True) == (chosen.status_code, " data-chosen" in chosen.text)
    assert (404, False) == (missing.status_code, "<b>" in missing.text)


async def test_the_page_offers_ones_last_submissions(front: Front) -> None:
    await front.world.board()
    numbers = [(await front.world.submit()).id for _ in range(2)]
    own = (await front.ada.get("/board/sort/submit")).text
    others = (await front.bob.get("/board/sort/submit")).text
    links = [f"submit?begin={number}" for number in numbers]
    assert ([True, True], [False, False]) == (
        [link in own for link in links],
        [link in others for link in links],
    )


async def test_the_statement_is_beside_the_editor(front: Front) -> None:
    await front.world.board()
    text = (await front.ada.get("/board/sort/submit")).text
    assert (True, True) == ("Sort it." in text, "size: 10000; seed: 7" in text)


async def test_text_becomes_a_submission_with_the_line_ends_of_a_file(front: Front) -> None:
    await front.world.board()
    answer = await send(front, front.ada, code=CORRECT.decode().replace("\n", "\r\n"))
    path = answer.headers["location"]
    code = await front.ada.get(f"{path}/code")
    assert (303, CORRECT) == (answer.status_code, code.content)


async def test_a_file_goes_before_the_text(front: Front) -> None:
    await front.world.board()
    answer = await send(front, front.ada, files={"file": ("other.py", b"# mine\n")})
    page = await front.ada.get(answer.headers["location"])
    assert ("other.py" in page.text, "# mine" in page.text) == (True, True)


async def test_a_form_sent_twice_makes_one_submission(front: Front) -> None:
    await front.world.board()
    answers = await asyncio.gather(*(send(front, front.ada) for _ in range(4)))
    again = await send(front, front.ada)
    places = {answer.headers["location"] for answer in (*answers, again)}
    assert (1, 1) == (len(places), await count(front))


async def test_a_sent_form_with_another_text_is_refused_and_then_is_another_form(
    front: Front,
) -> None:
    """As after Back, or a lost answer: its author sees that the text was not sent, and sends it by
    the form that the refusal shows."""
    await front.world.board()
    first = await send(front, front.ada)
    other = CORRECT.decode() + "# better\n"
    refused = await send(front, front.ada, code=other)
    assert (409, 1, True) == (refused.status_code, await count(front), "# better" in refused.text)
    assert "Submit it once more" in refused.text
    form = re.findall(r'name="form" value="([^"]+)"', refused.text)[0]
    second = await send(front, front.ada, code=other, form=form)
    places = {first.headers["location"], second.headers["location"]}
    assert (2, 2) == (len(places), await count(front))


async def test_the_same_form_of_someone_else_is_another(front: Front) -> None:
    await front.world.board()
    await send(front, front.ada)
    other = await send(front, front.bob)
    page = await front.bob.get(other.headers["location"])
    assert (303, 200) == (other.status_code, page.status_code)


async def test_a_form_that_is_not_ours_makes_nothing(front: Front) -> None:
    await front.world.board()
    forms = ("", "x", "' OR 1=1 --              ", "x" * 90, "\x00" * 20)
    answers = [await send(front, front.ada, form=form) for form in forms]
    assert [400] * len(forms) == [answer.status_code for answer in answers]
    assert 0 == await count(front)


async def test_a_form_from_another_site_is_refused(front: Front) -> None:
    await front.world.board()
    answer = await send(front, front.ada, csrf="0" * 64)
    assert (403, 0) == (answer.status_code, await count(front))


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"code": ""}, 422, "The file is empty."),
    ({"code": "#!POPCORN nonsense x\n"}, 422, "unknown directive"),
    ({"code": "a\x00b"}, 422, "NUL"),
    ({"name": "fast.cu"}, 422, "solved in Python"),
    ({"name": "<script>"}, 422, "must end in"),
    ({"device": "H100"}, 400, "doesn&#39;t offer"),
    ({"device": "<script>"}, 400, "There is no device"),
    ({"files": {"file": ("a.py", b"\xff\xfe")}}, 422, "UTF-8"),
    ({"mode": "nope"}, 422, ""),
]


async def test_a_refusal_shows_why_and_the_form_may_be_sent_again(front: Front) -> None:
    await front.world.board()
    for changed, status, said in REFUSED:
        answer = await send(front, front.ada, **changed)
        shown = said in answer.text and "<script>" not in answer.text
        assert (changed, status, True) == (changed, answer.status_code, shown)
    assert 0 == await count(front)
    assert 303 == (await send(front, front.ada)).status_code


async def test_a_text_over_the_limit_is_refused(front: Front) -> None:
    await front.world.board()
    answer = await send(front, front.ada, code="x" * ((1 << 20) + 1))
    assert (True, 0) == (answer.status_code in (400, 413, 422), await count(front))


async def test_after_the_deadline_nothing_is_taken(front: Front) -> None:
    await front.world.board()
    edit = BoardEdit(deadline=datetime.now(UTC) + timedelta(hours=1))
    await front.world.services.boards.edit(front.world.admin.user, "sort", edit)
    async with front.world.database.write() as session:
        await session.do("UPDATE leaderboards SET deadline = now() - interval '1 minute'")
    page = await front.ada.get("/board/sort")
    answer = await send(front, front.ada)
    assert (403, True) == (answer.status_code, "deadline" in answer.text)
    assert "/board/sort/submit" not in page.text


async def test_a_body_over_the_limit_is_refused_with_a_page(front: Front) -> None:
    await front.world.board()
    files = {"file": ("a.py", b"x" * (2 << 20))}
    answer = await send(front, front.ada, files=files)
    assert (413, True) == (answer.status_code, "That is too large" in answer.text)


async def test_a_text_that_would_end_the_editor_stays_inside(front: Front) -> None:
    await front.world.board()
    answer = await send(front, front.ada, code="</textarea><script>1</script>", name="a.txt")
    assert 422 == answer.status_code
    assert re.search(r"&lt;/textarea&gt;&lt;script&gt;", answer.text)


async def test_a_processor_that_takes_tests_is_among_the_devices(front: Front) -> None:
    await front.world.board(devices=("H100",))
    before = (await front.ada.get("/board/sort/submit")).text
    edit = BoardEdit(try_on_cpu=True)
    await front.world.services.boards.edit(front.world.admin.user, "sort", edit)
    after = (await front.ada.get("/board/sort/submit")).text
    refused = await send(front, front.ada, mode="leaderboard")
    assert (False, True) == ("no speed" in before, "on an emulator: no speed" in after)
    parts = ('name="device" value="CPU" checked', "takes tests alone")
    assert [] == [part for part in parts if part not in refused.text]


async def test_a_test_on_a_processor_is_begun_again_on_it(front: Front, tmp_path: Path) -> None:
    await front.world.board(devices=("H100",))
    edit = BoardEdit(try_on_cpu=True)
    await front.world.services.boards.edit(front.world.admin.user, "sort", edit)
    async with working(quick_settings(tmp_path), front.world.database.url):
        await until_told(lambda: is_served(front.world))
        sent = await front.world.submit(mode=Mode.TEST, devices=("CPU",))
    page = (await front.ada.get(f"/board/sort/submit?begin={sent.id}")).text
    chosen = [f'name="device" value="{name}" checked' in page for name in ("CPU", "H100")]
    assert [True, False] == chosen


async def is_served(world: World) -> bool:
    return (await world.services.devices.list_devices())[0].available


async def test_who_shares_a_browser_shares_no_draft(front: Front) -> None:
    await front.world.board()
    texts = [(await one.get("/board/sort/submit")).text for one in (front.ada, front.bob)]
    ours, theirs = (re.findall(r'data-draft="([^"]+)"', text) for text in texts)
    assert (1, 1, True) == (len(ours), len(theirs), ours != theirs)
