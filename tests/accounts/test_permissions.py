import psycopg
import pytest

from kernelbot.accounts.model import Role
from kernelbot.domain.errors import Banned, Conflict, NotAllowed, NotFound
from tests.support.problems import sort_problem
from tests.support.world import World


async def test_admins_find_people_by_part_of_a_name(world: World) -> None:
    found = await world.services.users.list_users(world.admin.user, search="AD")
    assert ["ada"] == [user.name for user in found]


async def test_competitors_list_nobody(world: World) -> None:
    with pytest.raises(NotAllowed):
        await world.services.users.list_users(world.ada.user)


async def test_a_banned_admin_is_no_admin(world: World) -> None:
    eve = (await world.services.users.create("eve", Role.ADMIN)).user
    banned = await world.services.users.ban(world.admin.user, eve.id)
    with pytest.raises(Banned):
        await world.services.users.list_users(banned)


async def test_a_banned_admin_reads_nobodys_code(world: World) -> None:
    eve = await world.services.users.create("eve", Role.ADMIN)
    await world.board()
    sent = await world.submit()
    await world.services.users.ban(world.admin.user, eve.user.id)
    banned = await world.services.users.authenticate(eve.token)
    with pytest.raises(NotAllowed):
        await world.services.submissions.get(banned, sent.id)


async def test_a_banned_creator_organises_nothing(world: World) -> None:
    carl = await world.services.users.create("carl", Role.CREATOR)
    await world.services.boards.create(
        carl.user, sort_problem("sort"), name="sort", devices=("CPU",)
    )
    sent = await world.submit()
    await world.services.users.ban(world.admin.user, carl.user.id)
    banned = await world.services.users.authenticate(carl.token)
    for deed in (
        world.services.reviews.refuse(banned, sent.id, "because"),
        world.services.rejudging.start(banned, "sort"),
        world.services.deletion.delete_submission(banned, sent.id),
        world.services.deletion.delete_board(banned, "sort", force=True),
    ):
        with pytest.raises(Banned):
            await deed


@pytest.mark.parametrize("reference", ["ada", "ADA", "github:42"])
async def test_people_are_found_by_name_and_identity(world: World, reference: str) -> None:
    with psycopg.connect(world.database.url) as connection:
        connection.execute(
            "INSERT INTO identities VALUES ('github', '42', %s)", (world.ada.user.id,)
        )
    assert world.ada.user == await world.services.users.find(world.admin.user, reference)


async def test_people_are_found_by_number(world: World) -> None:
    reference = str(world.ada.user.id)
    assert world.ada.user == await world.services.users.find(world.admin.user, reference)


@pytest.mark.parametrize("reference", ["", "nobody", "9" * 30, "github:", "a\x00", "discord:42"])
async def test_nobody_is_found_by_other_words(world: World, reference: str) -> None:
    with pytest.raises(NotFound):
        await world.services.users.find(world.admin.user, reference)


async def test_a_role_holds_from_now_on(world: World) -> None:
    await world.services.users.set_role(world.admin.user, world.ada.user.id, Role.CREATOR)
    assert Role.CREATOR == (await world.services.users.authenticate(world.ada.token)).role


async def test_nobody_changes_their_own_role(world: World) -> None:
    with pytest.raises(Conflict, match="You can't change your own account"):
        await world.services.users.set_role(world.admin.user, world.admin.user.id, Role.COMPETITOR)


@pytest.mark.parametrize("user_id", [0, -1, 10**18, 2**63])
async def test_an_unknown_person_has_no_role(world: World, user_id: int) -> None:
    with pytest.raises(NotFound):
        await world.services.users.set_role(world.admin.user, user_id, Role.CREATOR)


async def test_a_banned_person_submits_nothing(world: World) -> None:
    await world.board()
    banned = await world.services.users.ban(world.admin.user, world.ada.user.id, "copied")
    with pytest.raises(Banned):
        await world.submit(banned)


async def test_a_banned_person_reads_what_is_his(world: World) -> None:
    await world.board()
    mine = await world.submit()
    await world.services.users.ban(world.admin.user, world.ada.user.id)
    banned = await world.services.users.authenticate(world.ada.token)
    assert mine.id == (await world.services.submissions.get(banned, mine.id)).id


async def test_a_ban_ends(world: World) -> None:
    await world.services.users.ban(world.admin.user, world.ada.user.id)
    assert None is (await world.services.users.unban(world.admin.user, world.ada.user.id)).banned_at


async def ranked_names(world: World) -> list[str]:
    page = await world.services.standings.page(None, "sort", "CPU")
    return [row.author for row in page.standings]


async def finish(world: World, submission_id: int) -> None:
    """Every run of the submission accepted, as a worker would leave it."""
    async with world.database.write() as session:
        await session.do(
            "UPDATE runs SET state = 'dispatched' WHERE submission_id = %(id)s",
            {"id": submission_id},
        )
        await session.do(
            "UPDATE runs SET state = 'finished', verdict = 'accepted', score_s = 0.5,"
            " finished_at = now() WHERE submission_id = %(id)s",
            {"id": submission_id},
        )
        await session.one(
            "SELECT refresh_standing(leaderboard_id, 'CPU', author_id) FROM submissions"
            " WHERE id = %(id)s",
            {"id": submission_id},
        )


async def test_a_banned_person_is_ranked_nowhere(world: World) -> None:
    await world.board()
    await finish(world, (await world.submit()).id)
    await world.services.users.ban(world.admin.user, world.ada.user.id)
    assert [] == await ranked_names(world)


async def test_what_counted_before_a_ban_counts_after_it(world: World) -> None:
    await world.board()
    await finish(world, (await world.submit()).id)
    await world.services.users.ban(world.admin.user, world.ada.user.id)
    await world.services.users.unban(world.admin.user, world.ada.user.id)
    assert ["ada"] == await ranked_names(world)
