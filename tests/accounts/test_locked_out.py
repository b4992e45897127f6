"""A person who can't see a board learns nothing of it; a lost role loses its rights."""

from collections.abc import Awaitable, Callable

import pytest

from kernelbot.accounts.model import NewToken, Role, User
from kernelbot.boards.model import Board, Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import Banned, KernelbotError, NotAllowed, NotFound
from kernelbot.domain.next_steps import Next
from kernelbot.platform.exports.model import ExportChoice
from kernelbot.submissions.model import Submission
from tests.support.problems import sort_problem
from tests.support.world import World

Deed = Callable[[World, User, int], Awaitable[object]]
MISSING = 10**9
ON_SUBMISSIONS: list[Deed] = [
    lambda world, actor, number: world.services.deletion.delete_submission(actor, number),
    lambda world, actor, number: world.services.reviews.release(actor, number, "because"),
    lambda world, actor, number: world.services.reviews.refuse(actor, number, "because"),
    lambda world, actor, number: world.services.submissions.get(actor, number),
    lambda world, actor, number: world.services.submissions.cancel(actor, number),
    lambda world, actor, number: world.services.artifacts.list_artifacts(actor, number),
]


async def _creator(world: World, name: str) -> NewToken:
    return await world.services.users.create(name, Role.CREATOR)


async def _closed(world: World, maker: User) -> tuple[Board, Submission]:
    """A closed board of a maker's, and the maker's submission there."""
    board = await world.services.boards.create(
        maker,
        sort_problem("hidden"),
        name="hidden",
        devices=("CPU",),
        visibility=Visibility.CLOSED,
    )
    return board, await world.submit(maker, board="hidden")


async def _refusal(
    deed: Awaitable[object],
) -> tuple[type[KernelbotError], str, tuple[str, Next | None]]:
    with pytest.raises(KernelbotError) as caught:
        await deed
    return type(caught.value), str(caught.value), (caught.value.hint, caught.value.next_step)


@pytest.mark.parametrize("deed", ON_SUBMISSIONS)
async def test_a_closed_boards_submission_is_not_there_for_strangers(
    world: World, deed: Deed
) -> None:
    _, sent = await _closed(world, world.admin.user)
    kind, said, hint = await _refusal(deed(world, world.bob.user, sent.id))
    missing = await _refusal(deed(world, world.bob.user, MISSING))
    assert (kind, said.replace(str(sent.id), str(MISSING)), hint) == missing


@pytest.mark.parametrize("role", [Role.COMPETITOR, Role.CREATOR])
async def test_a_closed_board_is_not_there_to_be_exported(world: World, role: Role) -> None:
    board, _ = await _closed(world, world.admin.user)
    eve = (await world.services.users.create("eve", role)).user
    exports = world.services.exports
    for choice, missing in (
        (ExportChoice(ids=(board.id,)), ExportChoice(ids=(MISSING,))),
        (ExportChoice(names=("hidden",)), ExportChoice(names=("nowhere",))),
    ):
        kind, said, hint = await _refusal(exports.to_hub(eve, choice, "x.parquet"))
        said = said.replace("hidden", "nowhere").replace(f"'{board.id}'", f"'{MISSING}'")
        assert (kind, said, hint) == await _refusal(exports.to_hub(eve, missing, "x.parquet"))


async def test_a_banned_organiser_reads_nobodys_code(world: World) -> None:
    carl = await _creator(world, "carl")
    await world.services.boards.create(
        carl.user, sort_problem("sort"), name="sort", devices=("CPU",)
    )
    sent = await world.submit()
    await world.services.users.ban(world.admin.user, carl.user.id)
    banned = await world.services.users.authenticate(carl.token)
    submissions = world.services.submissions
    for deed in (
        submissions.get(banned, sent.id),
        submissions.measured(banned, sent.id),
        anext(submissions.events(banned, sent.id)),
    ):
        with pytest.raises(NotAllowed):
            await deed


async def test_a_banned_operator_reads_nobodys_code(world: World) -> None:
    await world.board()
    sent = await world.submit()
    operator = await world.services.users.organiser()
    banned = await world.services.users.ban(world.admin.user, operator.id)
    with pytest.raises(NotAllowed):
        await world.services.submissions.get(banned, sent.id)


async def test_who_is_no_creator_any_more_organises_nothing(world: World) -> None:
    carl = await _creator(world, "carl")
    await world.services.boards.create(
        carl.user, sort_problem("sort"), name="sort", devices=("CPU",)
    )
    sent = await world.submit()
    once = await world.services.users.set_role(world.admin.user, carl.user.id, Role.COMPETITOR)
    services = world.services
    for deed in (
        services.boards.edit(once, "sort", BoardEdit(reveal_code=True)),
        services.reviews.refuse(once, sent.id, "because"),
        services.rejudging.start(once, "sort"),
        services.deletion.delete_submission(once, sent.id),
        services.submissions.get(once, sent.id),
        services.exports.to_hub(once, ExportChoice(names=("sort",)), "x.parquet"),
    ):
        with pytest.raises(NotAllowed):
            await deed
    assert [] == await services.reviews.held(once)


async def test_who_is_no_creator_any_more_sees_no_closed_board(world: World) -> None:
    carl = await _creator(world, "carl")
    await _closed(world, carl.user)
    once = await world.services.users.set_role(world.admin.user, carl.user.id, Role.COMPETITOR)
    assert [] == await world.services.boards.list_boards(once)
    with pytest.raises(NotFound):
        await world.services.boards.get(once, "hidden")


async def test_a_maker_still_sees_and_organises_a_closed_board(world: World) -> None:
    carl = await _creator(world, "carl")
    await _closed(world, carl.user)
    await world.services.boards.edit(carl.user, "hidden", BoardEdit(reveal_code=True))
    assert ["hidden"] == [
        board.name for board in await world.services.boards.list_boards(carl.user)
    ]


async def test_a_banned_account_makes_no_board(world: World) -> None:
    carl = await _creator(world, "carl")
    banned = await world.services.users.ban(world.admin.user, carl.user.id)
    with pytest.raises(Banned):
        await world.services.boards.create(banned, sort_problem("x"), name="x", devices=("CPU",))
