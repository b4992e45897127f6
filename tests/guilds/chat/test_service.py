"""Answers that tell of submissions."""

import asyncio
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from kernelbot.domain.errors import Conflict, NotFound
from kernelbot.guilds.model import ChatAnswer
from kernelbot.protocol import Mode
from kernelbot.submissions.model import NewSubmission
from tests.support.postgres import WAITS_FOR_A_LOCK, until_there_is
from tests.support.world import World

NEW = NewSubmission("sort", ("CPU",), Mode.TEST, "fast.py", b"x = 1\n")


def answer(message_id: int) -> ChatAnswer:
    until = datetime.now(UTC) + timedelta(minutes=15)
    return ChatAnswer(message_id, 1, 2, 3, "ada", "token", until)


async def test_a_submission_and_its_answer_are_stored_together(world: World) -> None:
    await world.board("sort")
    made, _ = await world.services.chat.submit(world.ada.user, NEW, answer(1))
    (kept,) = await world.services.chat.open_answers([1])
    assert (1, made.id) == (kept.message_id, kept.submission_id)
    assert kept == await world.services.chat.give_up(answer(1)), "it is submitted already"
    with pytest.raises(Conflict, match="submitted already"):
        await world.services.chat.submit(world.ada.user, NEW, answer(1))


async def test_for_an_answer_that_was_given_up_nothing_is_submitted(world: World) -> None:
    await world.board("sort")
    chat, submissions = world.services.chat, world.services.submissions
    with pytest.raises(Conflict, match="Nothing was submitted"):
        await submissions.create(world.ada.user, NEW, message_id=7)
    assert [] == await world.services.submission_lists.own(world.ada.user)
    assert await chat.give_up(answer(7)) is None


async def test_a_bot_that_connects_anew_gives_up_nothing_that_it_is_submitting(
    world: World,
) -> None:
    await world.board("sort")
    chat = world.services.chat
    with psycopg.connect(world.database.url) as other:
        other.execute("LOCK TABLE submissions IN SHARE MODE")  # the answer can still be stored
        submitting = asyncio.create_task(chat.submit(world.ada.user, NEW, answer(1)))
        async with world.database.read() as session:
            await until_there_is(session, WAITS_FOR_A_LOCK)
        with pytest.raises(Conflict, match="submitted already"):
            await chat.submit(world.ada.user, NEW, answer(1))
        assert [] == await chat.open_answers([1])
    made, _ = await submitting
    assert [made.id] == [one.submission_id for one in await chat.open_answers([1])]


async def test_what_was_refused_may_be_submitted_again(world: World) -> None:
    chat = world.services.chat
    with pytest.raises(NotFound):
        await chat.submit(world.ada.user, NEW, answer(1))
    assert [] == await chat.open_answers([1])
    await world.board("sort")
    await chat.submit(world.ada.user, NEW, answer(1))


async def test_an_answer_goes_on_in_the_channel_until_it_is_done(world: World) -> None:
    chat = world.services.chat
    await world.board("sort")
    await chat.submit(world.ada.user, NEW, answer(1))
    await chat.went_public(answer(1), 77)
    (kept,) = await chat.open_answers([1])
    assert (None, 77) == (kept.token, kept.public_message_id)
    assert [] == await chat.open_answers([2])
    await chat.done(answer(1))
    assert [] == await chat.open_answers([1])
