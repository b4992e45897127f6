"""The answers in a chat that tell of submissions."""

from collections.abc import Sequence
from dataclasses import asdict

from kernelbot.guilds.model import ChatAnswer
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


async def claim(session: WriteSession, answer: ChatAnswer) -> bool:
    """Keep a new answer; False: its message has one already."""
    return await session.do(statements(__file__)["claim"], asdict(answer)) == 1


async def release(session: WriteSession, message_id: int) -> None:
    """Forget an answer for which nothing was submitted."""
    await session.do(statements(__file__)["release"], {"message_id": message_id})


async def submitted(session: WriteSession, message_id: int, submission_id: int) -> bool:
    """Say which submission the answer tells of; False: it was given up, or tells of another."""
    values = {"message_id": message_id, "submission_id": submission_id}
    return await session.do(statements(__file__)["submitted"], values) == 1


async def give_up(session: WriteSession, message_id: int) -> ChatAnswer | None:
    """Let nothing be submitted for an answer any more; if something was already, the answer as it
    stands."""
    values = {"message_id": message_id}
    if await session.do(statements(__file__)["give_up"], values):
        return None
    row = await session.one(statements(__file__)["one"], values)
    return ChatAnswer(**row) if row else None


async def went_public(session: WriteSession, message_id: int, public_message_id: int) -> None:
    """Say that it goes on as a message of the channel."""
    values = {"message_id": message_id, "public_message_id": public_message_id}
    await session.do(statements(__file__)["went_public"], values)


async def done(session: WriteSession, message_id: int) -> None:
    await session.do(statements(__file__)["done"], {"message_id": message_id})


async def open_answers(session: ReadSession, guild_ids: Sequence[int]) -> list[ChatAnswer]:
    """The answers of guilds that aren't done, the oldest first."""
    rows = await session.all(statements(__file__)["open"], {"guild_ids": list(guild_ids)})
    return [ChatAnswer(**row) for row in rows]
