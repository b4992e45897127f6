"""Links to results: who makes them, what they show, and how they end."""

from datetime import UTC, datetime, timedelta

import pytest

from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import Banned, Conflict, NotAllowed, NotFound
from kernelbot.protocol import Mode
from kernelbot.submissions.sharing.model import ResultLink, SharedResult
from tests.ranking.authors.test_service import closed, ended
from tests.support.ranked import ranked
from tests.support.world import World

NO_SECRETS = ["", "x", "A" * 22, "A" * 21 + "\n", "a'; echo x", "\x00" * 22, "é" * 22]


async def shared(world: World, *, shows_code: bool = False) -> tuple[int, ResultLink]:
    """A submission of ada's with its link."""
    await world.board()
    made = await ranked(world, 1e-3)
    link = await world.services.sharing.share(world.ada.user, made, shows_code=shows_code)
    return made, link


async def read(world: World, link: ResultLink) -> SharedResult:
    return await world.services.sharing.read(link.path.rpartition("/")[2])


async def leads_nowhere(world: World, link: ResultLink) -> bool:
    try:
        await read(world, link)
    except NotFound:
        return True
    return False


async def test_a_link_shows_the_score_with_its_place(world: World) -> None:
    made, link = await shared(world)
    await ranked(world, 5e-4, author=world.bob.user)
    found = await read(world, link)
    assert (made, "ada", "sort", "CPU", 1e-3, 2, 2, None) == (
        found.score.submission_id,
        found.score.author,
        found.board,
        found.device,
        found.score.score_s,
        found.rank,
        found.authors,
        found.code,
    )
    assert found.score.ci95_s is not None


async def test_a_score_that_its_author_has_beaten_is_shown_without_a_place(world: World) -> None:
    _, link = await shared(world)
    await ranked(world, 5e-4)
    found = await read(world, link)
    assert (1e-3, None) == (found.score.score_s, found.rank)


@pytest.mark.parametrize("shows_code", [False, True])
async def test_the_author_decides_about_the_code(world: World, shows_code: bool) -> None:
    _, link = await shared(world, shows_code=shows_code)
    found = await read(world, link)
    assert (shows_code, None) == (found.code is not None, found.code_from)


async def test_code_is_shown_once_the_board_has_ended(world: World) -> None:
    _, link = await shared(world, shows_code=True)
    deadline = datetime.now(UTC) + timedelta(hours=1)
    await world.services.boards.edit(world.admin.user, "sort", BoardEdit(deadline=deadline))
    before = await read(world, link)
    await ended(world)
    after = await read(world, link)
    assert (None, deadline, True, None) == (
        before.code,
        before.code_from,
        after.code is not None,
        after.code_from,
    )


async def test_the_same_link_is_changed_and_a_new_one_has_another_secret(world: World) -> None:
    made, link = await shared(world)
    ask, ada = world.services.sharing, world.ada.user
    changed = await ask.share(ada, made, shows_code=True)
    await ask.stop(ada, made)
    gone = await leads_nowhere(world, link)
    again = await ask.share(ada, made, shows_code=False)
    assert (link.path, True, True) == (changed.path, changed.shows_code, gone)
    assert link.path != again.path


async def test_to_end_it_twice_is_to_end_it(world: World) -> None:
    made, _ = await shared(world)
    for _ in range(2):
        await world.services.sharing.stop(world.ada.user, made)
    assert await world.services.sharing.link(world.ada.user, made) is None


async def test_only_its_author_shows_a_result(world: World) -> None:
    await world.board()
    made = await ranked(world, 1e-3)
    for other in (world.bob.user, world.admin.user):
        with pytest.raises(NotAllowed):
            await world.services.sharing.share(other, made, shows_code=True)
        with pytest.raises(NotAllowed):
            await world.services.sharing.link(other, made)
        with pytest.raises(NotAllowed):
            await world.services.sharing.stop(other, made)


async def test_what_has_no_score_on_secret_data_isnt_shown(world: World) -> None:
    await world.board()
    waits = await world.submit()
    tested = await world.submit(mode=Mode.TEST)
    for submission in (waits, tested):
        with pytest.raises(Conflict, match="no result to show"):
            await world.services.sharing.share(world.ada.user, submission.id, shows_code=False)


async def test_a_board_by_invite_shows_nothing(world: World) -> None:
    made, link = await shared(world)
    await closed(world)
    assert await leads_nowhere(world, link)
    with pytest.raises((Conflict, NotFound)):
        await world.services.sharing.share(world.ada.user, made, shows_code=False)


async def test_a_held_result_is_hidden_until_it_is_released(world: World) -> None:
    made, link = await shared(world)
    async with world.database.write() as session:
        await session.do(
            "UPDATE submissions SET review = 'held', review_reason = 'odd' WHERE id = %(id)s",
            {"id": made},
        )
    held = await leads_nowhere(world, link)
    await world.services.reviews.release(world.admin.user, made, "it is right")
    assert (True, False) == (held, await leads_nowhere(world, link))


async def test_a_ban_ends_what_was_shown_and_hinders_more(world: World) -> None:
    made, link = await shared(world)
    await world.services.users.ban(world.admin.user, world.ada.user.id)
    assert await leads_nowhere(world, link)
    banned = await world.services.users.get(world.admin.user, world.ada.user.id)
    with pytest.raises(Banned):
        await world.services.sharing.share(banned, made, shows_code=False)


async def test_a_deleted_submission_takes_its_link_along(world: World) -> None:
    made, link = await shared(world)
    await world.services.deletion.delete_submission(world.ada.user, made)
    assert await leads_nowhere(world, link)


async def test_what_is_no_secret_leads_nowhere(world: World) -> None:
    await shared(world)
    for secret in NO_SECRETS:
        with pytest.raises(NotFound):
            await world.services.sharing.read(secret)


async def test_a_secret_isnt_in_what_is_logged_of_a_link(world: World) -> None:
    _, link = await shared(world)
    assert link.path not in repr(link)
