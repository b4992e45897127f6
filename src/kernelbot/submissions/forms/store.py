"""Forms that were sent, each once."""

from dataclasses import dataclass

from kernelbot.protocol import Mode
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class FormSubmission:
    """The submission that was made of a form, and what was sent by it."""

    id: int
    board: str
    devices: tuple[str, ...]
    mode: Mode
    file_name: str
    source_sha256: bytes


async def claim(session: WriteSession, author_id: int, form: str) -> bool:
    """Note that the author's form was sent; False: it was before. Waits for another transaction
    that has noted it and isn't over."""
    sql, values = statements(__file__), {"author_id": author_id, "form": form}
    await session.do(sql["forget"], values)
    return await session.one(sql["claim"], values) is not None


async def note(session: WriteSession, author_id: int, form: str, submission_id: int) -> None:
    values = {"author_id": author_id, "form": form, "submission_id": submission_id}
    await session.do(statements(__file__)["note"], values)


async def submission_of(session: ReadSession, author_id: int, form: str) -> FormSubmission | None:
    """The submission that was made of it; None: none."""
    values = {"author_id": author_id, "form": form}
    row = await session.one(statements(__file__)["submission_of"], values)
    return from_row(FormSubmission, row) if row else None
