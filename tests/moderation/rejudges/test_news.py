"""What a rejudge tells: nothing."""

from kernelbot.guilds.model import GuildChannels
from tests.support.ranked import ranked, rejudged
from tests.support.world import World


async def _told(world: World) -> list[tuple[str, str]]:
    """What was told of rankings since it was asked last, at Discord and to webhooks; of which
    author."""
    async with world.database.write() as session:
        news = await session.all(
            "DELETE FROM announcements WHERE kind IN ('podium', 'passed')"
            " RETURNING kind::text, coalesce(data->>'author', data->>'by') AS author"
        )
        records = await session.all(
            "DELETE FROM webhook_messages WHERE event = 'ranking.record'"
            " RETURNING event AS kind, data->>'author' AS author"
        )
    return sorted((row["kind"], row["author"]) for row in (*news, *records))


async def _listening(world: World) -> None:
    """A guild, one in it who watches for bob, and a webhook."""
    await world.board()
    await world.services.guilds.set_places(7, GuildChannels())
    await world.services.webhooks.create(world.admin.user, "https://example.org/x", board="sort")
    async with world.database.write() as session:
        await session.do(
            "INSERT INTO watches (leaderboard_id, author_id, guild_id, user_id)"
            " SELECT id, %(bob)s, 7, 99 FROM leaderboards",
            {"bob": world.bob.user.id},
        )


async def test_a_rejudge_announces_no_places_and_no_records(world: World) -> None:
    """All are a tenth faster, so that each is the first beside the others' scores of before."""
    await _listening(world)
    bob = await ranked(world, 1.0, author=world.bob.user)
    ada = await ranked(world, 1.08)
    await _told(world)
    await rejudged(world, {ada: 0.972, bob: 0.9})
    page = await world.services.standings.page(None, "sort", None)
    assert [(bob, 0.9), (ada, 0.972)] == [
        (row.submission_id, row.score_s) for row in page.standings
    ]
    assert [] == await _told(world)


async def test_what_is_better_afterwards_is_told(world: World) -> None:
    await _listening(world)
    bob = await ranked(world, 1.0, author=world.bob.user)
    await rejudged(world, {bob: 0.9})
    await _told(world)
    await ranked(world, 0.8)
    told = [("passed", "ada"), ("podium", "ada"), ("ranking.record", "ada")]
    assert told == await _told(world)
