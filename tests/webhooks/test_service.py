"""Who may have webhooks, and see what they were told."""

import asyncio
import base64

import pytest

from kernelbot.domain.errors import Banned, Conflict, NotAllowed, NotFound, UserError
from kernelbot.webhooks import store
from kernelbot.webhooks.model import BOARD_EVENTS, OWN_EVENTS, Webhook, WebhookEvent
from kernelbot.webhooks.service import Webhooks
from tests.support.postgres import WAITS_FOR_A_LOCK, until_there_is
from tests.support.world import World

URL = "https://example.org/hook"


@pytest.fixture
def webhooks(world: World) -> Webhooks:
    return world.services.webhooks


async def test_a_secret_is_shown_once_and_is_what_signs(world: World, webhooks: Webhooks) -> None:
    made = await webhooks.create(world.ada.user, URL)
    shown = await webhooks.list_webhooks(world.ada.user)
    without_it = {name: value for name, value in vars(made).items() if name != "secret"}
    assert (32, True, [Webhook(**without_it)]) == (
        len(base64.b64decode(made.secret.removeprefix("whsec_"))),
        made.secret.startswith("whsec_"),
        shown,
    )
    assert [] == [one for one in (repr(made), repr(shown)) if made.secret in one]


async def test_only_organisers_have_a_boards_webhooks(world: World, webhooks: Webhooks) -> None:
    await world.board()
    made = await webhooks.create(world.admin.user, URL, board="sort")
    with pytest.raises(NotAllowed):
        await webhooks.create(world.ada.user, URL, board="sort")
    with pytest.raises(NotAllowed):
        await webhooks.list_webhooks(world.ada.user, "sort")
    for act in (webhooks.messages, webhooks.delete, webhooks.enable, webhooks.try_it):
        with pytest.raises(NotFound):
            await act(world.ada.user, made.id)


async def test_nobody_else_has_ones_own(world: World, webhooks: Webhooks) -> None:
    made = await webhooks.create(world.ada.user, URL)
    for other in (world.bob.user, world.admin.user):
        with pytest.raises(NotFound):
            await webhooks.messages(other, made.id)


@pytest.mark.parametrize("board", [None, "sort"])
async def test_a_form_that_is_sent_twice_at_once_makes_one(
    world: World, webhooks: Webhooks, board: str | None
) -> None:
    board_id = (await world.board()).id
    async with world.database.write() as session:
        await store.lock(
            session,
            owner_id=world.admin.user.id,
            leaderboard_id=None if board is None else board_id,
        )
        creating = asyncio.create_task(webhooks.create(world.admin.user, URL, board=board))
        await until_there_is(session, WAITS_FOR_A_LOCK)
        await store.add(
            session,
            owner_id=world.admin.user.id,
            leaderboard_id=None if board is None else board_id,
            url=URL,
            events=BOARD_EVENTS if board else OWN_EVENTS,
            secret=bytes(32),
            max_webhooks=20,
        )
    with pytest.raises(Conflict, match="tells this address of the same already"):
        await creating


@pytest.mark.parametrize("number", [0, -1, 10**18, 10**30])
async def test_a_number_that_no_webhook_has_is_not_found(
    world: World, webhooks: Webhooks, number: int
) -> None:
    with pytest.raises(NotFound):
        await webhooks.messages(world.ada.user, number)


async def test_a_banned_person_makes_none(world: World, webhooks: Webhooks) -> None:
    banned = await world.services.users.ban(world.admin.user, world.ada.user.id)
    with pytest.raises(Banned):
        await webhooks.create(banned, URL)


async def test_events_of_boards_need_a_board(world: World, webhooks: Webhooks) -> None:
    with pytest.raises(UserError, match=r"ranking\.record"):
        await webhooks.create(world.ada.user, URL, events=[WebhookEvent.RANKING_RECORD])


async def test_there_is_a_limit_to_them(world: World, webhooks: Webhooks) -> None:
    for number in range(20):
        await webhooks.create(world.ada.user, f"{URL}/{number}")
    with pytest.raises(Conflict, match="20 webhooks"):
        await webhooks.create(world.ada.user, URL)


async def test_an_address_is_not_told_the_same_twice(world: World, webhooks: Webhooks) -> None:
    await world.board()
    await webhooks.create(world.ada.user, URL)
    with pytest.raises(Conflict, match="already"):
        await webhooks.create(world.ada.user, URL)
    records, ends = (WebhookEvent.RANKING_RECORD, WebhookEvent.BOARD_ENDED)
    for events in ([records], [ends]):  # of something else it is
        await webhooks.create(world.admin.user, URL, board="sort", events=events)
    assert 2 == len(await webhooks.list_webhooks(world.admin.user, "sort"))


async def test_one_test_waits_at_a_time(world: World, webhooks: Webhooks) -> None:
    made = await webhooks.create(world.ada.user, URL)
    await webhooks.try_it(world.ada.user, made.id)
    with pytest.raises(Conflict, match="waits yet"):
        await webhooks.try_it(world.ada.user, made.id)


async def test_a_disabled_one_is_not_tried(world: World, webhooks: Webhooks) -> None:
    made = await webhooks.create(world.ada.user, URL)
    async with world.database.write() as session:
        await store.disable(session, made.id, "It is gone.")
    with pytest.raises(Conflict, match=f"^Webhook {made.id} is disabled: It is gone.$"):
        await webhooks.try_it(world.ada.user, made.id)


async def test_the_last_hundred_messages_are_shown(world: World, webhooks: Webhooks) -> None:
    made = await webhooks.create(world.ada.user, URL)
    async with world.database.write() as session:
        await session.do(
            "INSERT INTO webhook_messages (webhook_id, event, subject, data)"
            " SELECT %(id)s, 'ranking.record', n::text, '{}' FROM generate_series(1, 101) n",
            {"id": made.id},
        )
    assert 100 == len(await webhooks.messages(world.ada.user, made.id))


async def test_all_of_a_board_have_what_it_is_told_of_and_an_author_their_own(
    world: World, webhooks: Webhooks
) -> None:
    await world.board()
    own = await webhooks.create(world.ada.user, URL)
    boards = await webhooks.create(world.admin.user, URL, board="sort")
    assert (OWN_EVENTS, BOARD_EVENTS) == (own.events, boards.events)
    assert set(WebhookEvent) - {WebhookEvent.WEBHOOK_TEST} == set(boards.events)
    assert ([own.id], [boards.id]) == (
        [one.id for one in await webhooks.list_webhooks(world.ada.user)],
        [one.id for one in await webhooks.list_webhooks(world.admin.user, "sort")],
    )
