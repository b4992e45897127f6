"""Boards, as their organisers change them."""

import asyncio
import re
from datetime import UTC, datetime

import pytest

from kernelbot.boards.limits.model import LimitCategory, RateLimit
from kernelbot.boards.model import Board, Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.platform.store import mark
from tests.support.front import csrf_for
from tests.support.office import Office

HERE = "/organise/board/sort"


async def board_of(office: Office) -> Board:
    return await office.front.world.services.boards.get(office.maker_token.user, "sort")


async def test_everyone_sees_what_they_organise(office: Office) -> None:
    mine = (await office.maker.get("/organise")).text
    everything = (await office.front.admin.get("/organise")).text
    shown = [
        [f">{name}</bdi></a>" in page for name in ("sort", "other")] for page in (mine, everything)
    ]
    assert [[True, False], [True, True]] == shown


async def test_only_organisers_find_the_way(office: Office) -> None:
    pages = [await one.get("/") for one in (office.front.ada, office.maker)]
    assert [False, True] == ['href="/organise"' in page.text for page in pages]


PAGES = [
    ("/organise", [303, 403, 200, 200]),
    ("/organise/new", [303, 403, 200, 200]),
    (HERE, [303, 403, 200, 200]),
    ("/organise/board/other", [303, 403, 403, 200]),
    ("/organise/board/nothing", [303, 403, 404, 404]),
]


async def test_who_sees_what(office: Office) -> None:
    front = office.front
    browsers = (front.stranger, front.ada, office.maker, front.admin)
    seen = [(path, [(await one.get(path)).status_code for one in browsers]) for path, _ in PAGES]
    assert PAGES == seen


async def test_settings_are_saved(office: Office) -> None:
    answer = await office.post(
        f"{HERE}/edit", deadline="2040-01-31T12:30", visibility="closed", reveal_code="true"
    )
    found = await board_of(office)
    assert (303, f"{HERE}?done=saved") == (answer.status_code, answer.headers["location"])
    assert (datetime(2040, 1, 31, 12, 30, tzinfo=UTC), Visibility.CLOSED, True, False) == (
        found.deadline,
        found.visibility,
        found.reveal_code,
        found.refuse_unavailable,
    )


async def test_tests_on_a_processor_are_allowed_by_a_checkbox(office: Office) -> None:
    await office.post(f"{HERE}/edit", visibility="public", try_on_cpu="true")
    allowed = (await board_of(office)).try_on_cpu
    page = (await office.maker.get(HERE)).text
    await office.post(f"{HERE}/edit", visibility="public")
    assert (True, True, False) == (
        allowed,
        'name="try_on_cpu" value="true" checked' in page,
        (await board_of(office)).try_on_cpu,
    )


async def test_a_deadline_that_is_left_alone_stays_to_the_second(office: Office) -> None:
    until = datetime(2040, 1, 31, 12, 30, 59, tzinfo=UTC)
    edit = office.front.world.services.boards.edit
    await edit(office.maker_token.user, "sort", BoardEdit(deadline=until))
    await office.post(f"{HERE}/edit", deadline="2040-01-31T12:30", visibility="public")
    assert until == (await board_of(office)).deadline


def _form_of(page: str, action: str) -> dict[str, str | list[str]]:
    """What the browser sends of that form, as the page shows it."""
    form = page[page.index(f'action="{HERE}/{action}"') :].split("</form>")[0]
    sent: dict[str, str | list[str]] = dict(
        re.findall(
            r'<input (?:type="hidden" )?name="(shown|was_\w+|ranked|test)"[^>]*value="([^"]*)"',
            form,
        )
    )
    if action == "edit":
        sent["was"] = re.findall(r'name="was" value="(\w+)"', form)
        sent["deadline"] = str(sent["was_deadline"])
        sent["visibility"] = str(sent["was_visibility"])
        sent |= dict(re.findall(r'name="(\w+)" value="(true)" checked', form))
    return sent


async def test_what_others_have_changed_since_the_page_was_opened_stays(office: Office) -> None:
    """Whoever has the page open ticks one box: nothing else of it is as they saw it."""
    boards, maker = office.front.world.services.boards, office.maker_token.user
    until = datetime(2040, 1, 31, 12, 30, tzinfo=UTC)
    shown = BoardEdit(Visibility.PUBLIC, until, fixed_seed=True, try_on_cpu=True)
    await boards.edit(maker, "sort", shown)
    form = _form_of((await office.maker.get(HERE)).text, "edit")
    ended = datetime(2026, 1, 31, 12, 30, 59, tzinfo=UTC)
    meanwhile = BoardEdit(Visibility.CLOSED, ended, fixed_seed=False, refuse_unavailable=True)
    await boards.edit(maker, "sort", meanwhile)
    answer = await office.maker.post(
        f"{HERE}/edit", data={**csrf_for(office.maker), **form, "reveal_code": "true"}
    )
    found = await board_of(office)
    assert (303, ended, Visibility.CLOSED) == (answer.status_code, found.deadline, found.visibility)
    assert (True, False, True, True) == (
        found.reveal_code,
        found.fixed_seed,
        found.refuse_unavailable,
        found.try_on_cpu,
    )


async def test_what_was_ticked_can_be_unticked_and_a_deadline_removed(office: Office) -> None:
    boards, maker = office.front.world.services.boards, office.maker_token.user
    until = datetime(2040, 1, 31, 12, 30, tzinfo=UTC)
    await boards.edit(maker, "sort", BoardEdit(Visibility.CLOSED, until, reveal_code=True))
    form = _form_of((await office.maker.get(HERE)).text, "edit")
    del form["reveal_code"]
    changed = {"deadline": "", "visibility": "public"}
    await office.maker.post(f"{HERE}/edit", data={**csrf_for(office.maker), **form, **changed})
    found = await board_of(office)
    assert (None, Visibility.PUBLIC, False) == (
        found.deadline,
        found.visibility,
        found.reveal_code,
    )


async def test_a_limit_that_others_have_set_since_stays(office: Office) -> None:
    limits, maker = office.front.world.services.limits, office.maker_token.user
    form = _form_of((await office.maker.get(HERE)).text, "limits")
    await limits.set(maker, "sort", RateLimit(LimitCategory.TEST, 3))
    await office.maker.post(
        f"{HERE}/limits", data={**csrf_for(office.maker), **form, "ranked": "6"}
    )
    found = {limit.category: limit.max_per_hour for limit in await limits.list_limits(None, "sort")}
    assert {LimitCategory.LEADERBOARD: 6, LimitCategory.TEST: 3} == found


async def test_a_board_ends_and_opens_again(office: Office) -> None:
    await office.post(f"{HERE}/end")
    ended = await office.maker.get(f"{HERE}?done=ended")
    await office.post(f"{HERE}/reopen")
    assert ("It ended" in ended.text, None) == (True, (await board_of(office)).deadline)


async def test_limits_are_set_and_removed(office: Office) -> None:
    limits = office.front.world.services.limits
    for _ in range(2):  # a form that is sent twice
        await office.post(f"{HERE}/limits", ranked="6", test="")
    six = await limits.list_limits(None, "sort")
    shown = (await office.maker.get(HERE)).text
    for _ in range(2):
        await office.post(f"{HERE}/limits", ranked="", test="")
    assert [RateLimit(LimitCategory.LEADERBOARD, 6)] == six
    assert (True, []) == ('value="6"' in shown, await limits.list_limits(None, "sort"))


FORMS: list[tuple[str, dict[str, str], int]] = [
    ("edit", {"deadline": "soon"}, 400),
    ("edit", {"deadline": "<script>\x00"}, 400),
    ("edit", {"visibility": "secret"}, 422),
    ("edit", {"deadline": "x" * 1000}, 422),
    ("edit", {"shown": "true", "was": "<script>", "deadline": "x"}, 400),
    ("edit", {"was_visibility": "secret"}, 422),
    ("limits", {"ranked": "-1"}, 400),
    ("limits", {"ranked": "1e3"}, 400),
    ("limits", {"test": "9" * 20}, 400),
    ("limits", {"test": "999999999"}, 400),
    ("delete", {"name": "other"}, 400),
]


async def test_a_wrong_form_changes_nothing(office: Office) -> None:
    before = await board_of(office)
    answers = [await office.post(f"{HERE}/{action}", **form) for action, form, _ in FORMS]
    assert [status for _, _, status in FORMS] == [one.status_code for one in answers]
    assert (before, [], []) == (
        await board_of(office),
        await office.front.world.services.limits.list_limits(None, "sort"),
        [one.url for one in answers if "<script>" in one.text],
    )


@pytest.mark.parametrize("action", ["edit", "end", "reopen", "limits", "delete"])
async def test_forms_of_others_change_nothing(office: Office, action: str) -> None:
    before = await board_of(office)
    path, form = f"{HERE}/{action}", {"name": "sort", "deadline": "2040-01-31", "ranked": "1"}
    from_elsewhere = await office.maker.post(path, data={**form, "csrf": "0" * 64})
    of_ada = await office.post(path, office.front.ada, **form)
    of_nobody = await office.front.stranger.post(path, data=form)
    answers = (from_elsewhere, of_ada, of_nobody)
    assert [403, 403, 401] == [answer.status_code for answer in answers]
    assert before == await board_of(office)


async def test_a_board_is_deleted_if_its_name_is_typed(office: Office) -> None:
    await office.front.world.submit()
    answers = [await office.post(f"{HERE}/delete", name=" Sort ") for _ in range(2)]
    assert [303, 404] == [answer.status_code for answer in answers]
    assert ["other"] == [b.name for b in await office.front.world.services.boards.list_boards(None)]


async def test_the_first_page_says_that_this_is_a_copy(office: Office) -> None:
    before = (await office.maker.get("/organise")).text
    await asyncio.to_thread(mark, office.front.world.database.url, is_copy=True)
    after = (await office.maker.get("/organise")).text
    assert (False, True) == ("restored copy" in before, "restored copy" in after)
