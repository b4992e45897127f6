"""What is refused, held or wrong when it is measured again is so for the same code as well."""

import psycopg
import pytest

from kernelbot.protocol import Mode
from kernelbot.ranking.model import NotRanked, NotRankedReason
from kernelbot.store.history import known_migrations
from tests.support.ranked import judged, ranked, rejudged
from tests.support.world import World

SAME = b"# the same\n'same'"


async def _standing(world: World, device: str = "CPU") -> list[int]:
    """The submissions that are ranked, which are those that a ranking made anew has."""
    page = await world.services.standings.page(None, "sort", device)
    async with world.database.write() as session:
        await session.one("SELECT rebuild_standings()")
    rebuilt = await world.services.standings.page(None, "sort", device)
    assert page.standings == rebuilt.standings
    return [row.submission_id for row in page.standings]


async def _sent(world: World, content: bytes = SAME, device: str = "CPU", code: int = 7) -> int:
    """The number of a submission that was judged; the digest of its code is made of `code`."""
    sent = await world.submit(content=content, devices=(device,))
    async with world.database.write() as session:
        await session.do(
            "UPDATE submissions SET code_sha256 = %(code)s WHERE id = %(id)s",
            {"id": sent.id, "code": bytes([code]) * 32},
        )
    await judged(world, sent.id, 1.0, device=device)
    return sent.id


async def _refused(world: World, number: int) -> None:
    await world.services.reviews.refuse(world.admin.user, number, "It remembers answers.")


async def _why_not(world: World, number: int) -> NotRanked | None:
    return (await world.services.submissions.get(world.ada.user, number)).not_ranked


async def _held(world: World, number: int) -> None:
    async with world.database.write() as session:
        await session.do(
            "UPDATE submissions SET review = 'held', review_reason = 'odd' WHERE id = %(id)s",
            {"id": number},
        )
        await session.one("SELECT refresh_standing(1, 'CPU', %(ada)s)", {"ada": world.ada.user.id})


@pytest.mark.parametrize("copy", [SAME, b"'same'  # laid out otherwise"])
async def test_a_copy_does_not_take_the_place_of_what_is_refused(world: World, copy: bytes) -> None:
    await world.board()
    first, again = await _sent(world), await _sent(world, copy)
    await _refused(world, first)
    assert [] == await _standing(world)
    assert NotRanked.because(NotRankedReason.SAME_CODE, first) == await _why_not(world, again)


async def test_nor_does_one_that_is_sent_after_the_refusal(world: World) -> None:
    await world.board()
    first = await _sent(world)
    await _refused(world, first)
    again = await _sent(world)
    assert [] == await _standing(world)
    assert NotRanked.because(NotRankedReason.SAME_CODE, first) == await _why_not(world, again)


async def test_nor_one_of_what_is_held(world: World) -> None:
    await world.board()
    first, again = await _sent(world), await _sent(world)
    await _held(world, first)
    assert [] == await _standing(world)
    assert NotRanked.because(NotRankedReason.SAME_CODE, first) == await _why_not(world, again)


async def test_nor_one_on_another_device(world: World) -> None:
    await world.board(devices=("CPU", "H100"))
    first, again = await _sent(world), await _sent(world, device="H100")
    assert [again] == await _standing(world, "H100")
    await _refused(world, first)
    assert [] == await _standing(world, "H100")


async def test_once_it_is_released_it_is_ranked(world: World) -> None:
    await world.board(devices=("CPU", "H100"))
    first, again = await _sent(world), await _sent(world, device="H100")
    await _refused(world, first)
    await world.services.reviews.release(world.admin.user, first, "It doesn't after all.")
    assert [first] == await _standing(world)
    assert [again] == await _standing(world, "H100")


async def test_what_is_refused_stays_so_although_it_is_deleted(world: World) -> None:
    await world.board(devices=("CPU", "H100"))
    first, again = await _sent(world), await _sent(world)
    other = await _sent(world, device="H100")
    await _refused(world, first)
    await world.services.deletion.delete_submission(world.ada.user, first)
    assert [] == await _standing(world)
    assert [] == await _standing(world, "H100")
    known = NotRanked.because(NotRankedReason.SAME_CODE, first)
    assert [known, known] == [await _why_not(world, number) for number in (again, other)]


async def test_what_was_sent_before_it_or_is_other_code_is_ranked(world: World) -> None:
    await world.board()
    first, again = await _sent(world), await _sent(world)
    await _refused(world, again)
    assert [first] == await _standing(world)
    await _refused(world, first)
    other = await _sent(world, b"'other'", code=8)
    assert [other] == await _standing(world)


async def test_another_authors_copy_is_ranked(world: World) -> None:
    await world.board()
    await _refused(world, await ranked(world, 1.0))
    theirs = await ranked(world, 1.0, author=world.bob.user)
    assert [theirs] == await _standing(world)


async def test_what_is_refused_in_another_mode_stops_nothing(world: World) -> None:
    await world.board()
    tested = await world.submit(content=SAME, mode=Mode.TEST)
    await _refused(world, tested.id)
    ranked_now = await _sent(world)
    assert [ranked_now] == await _standing(world)


async def test_a_copy_does_not_take_the_place_of_what_is_wrong_when_it_is_measured_again(
    world: World,
) -> None:
    await world.board()
    first, again = await _sent(world), await _sent(world, b"'same'  # again")
    await rejudged(world, {first: None})
    later = await _sent(world)
    assert [] == await _standing(world)
    known = NotRanked.because(NotRankedReason.SAME_CODE, first)
    assert [known, known] == [await _why_not(world, number) for number in (again, later)]


async def test_what_an_organiser_deletes_may_be_sent_again(world: World) -> None:
    await world.board()
    first = await _sent(world)
    await rejudged(world, {first: None})
    await world.services.deletion.delete_submission(world.admin.user, first)
    again = await _sent(world)
    assert [again] == await _standing(world)


async def test_a_rejudge_measures_no_copy_of_what_is_refused(world: World) -> None:
    await world.board()
    first = await _sent(world)
    await _sent(world)
    theirs = await ranked(world, 2.0, author=world.bob.user)
    await _refused(world, first)
    started = await world.services.rejudging.start(world.admin.user, "sort")
    assert [theirs] == [run.submission_id for run in started.runs]


async def test_what_was_wrong_in_rejudges_before_the_migration_counts_as_well(
    world: World,
) -> None:
    await world.board()
    first, again = await _sent(world), await _sent(world, b"'same'  # again")
    await rejudged(world, {first: None})
    migration = next(one for one in known_migrations() if one.name == "0027.refused_code")
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        connection.execute("DELETE FROM withdrawn_sources")
        connection.execute(migration.text[migration.text.index("INSERT INTO") :])
    assert [] == await _standing(world)
    assert NotRanked.because(NotRankedReason.SAME_CODE, first) == await _why_not(world, again)
