"""Links to results."""

from kernelbot.store.database import ReadSession, Row, WriteSession
from kernelbot.store.sqlfiles import statements
from kernelbot.submissions.sharing.model import RESULT, ResultLink


async def of_submission(session: ReadSession, submission_id: int) -> ResultLink | None:
    values = {"submission_id": submission_id}
    row = await session.one(statements(__file__)["of_submission"], values)
    return _link(row) if row else None


async def by_secret(session: ReadSession, secret: str) -> ResultLink | None:
    row = await session.one(statements(__file__)["by_secret"], {"secret": secret})
    return _link(row) if row else None


async def put(
    session: WriteSession, submission_id: int, *, secret: str, shows_code: bool
) -> ResultLink:
    """Make the submission's link, or change the one that there is, whose secret stays."""
    values = {"submission_id": submission_id, "secret": secret, "shows_code": shows_code}
    row = await session.one(statements(__file__)["put"], values)
    assert row is not None
    return _link(row)


async def delete(session: WriteSession, submission_id: int) -> None:
    await session.do(statements(__file__)["delete"], {"submission_id": submission_id})


def _link(row: Row) -> ResultLink:
    path = f"{RESULT}/{row['secret']}"
    return ResultLink(row["submission_id"], path, row["shows_code"], row["created_at"])
