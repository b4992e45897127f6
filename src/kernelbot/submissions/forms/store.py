"""Forms that were sent, each once."""

from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


async def claim(session: WriteSession, author_id: int, form: str) -> bool:
    """Note that the author's form was sent; False: it was before. Waits for another transaction
    that has noted it and isn't over."""
    sql, values = statements(__file__), {"author_id": author_id, "form": form}
    await session.do(sql["forget"], values)
    return await session.one(sql["claim"], values) is not None


async def note(session: WriteSession, author_id: int, form: str, submission_id: int) -> None:
    values = {"author_id": author_id, "form": form, "submission_id": submission_id}
    await session.do(statements(__file__)["note"], values)


async def submission_of(session: ReadSession, author_id: int, form: str) -> int | None:
    """The submission that was made of it; None: none."""
    values = {"author_id": author_id, "form": form}
    row = await session.one(statements(__file__)["submission_of"], values)
    return row["submission_id"] if row else None
