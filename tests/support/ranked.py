"""Submissions that were judged, without a judge."""

from kernelbot.accounts.model import User
from kernelbot.protocol import Mode
from tests.support.world import World


async def ranked(
    world: World,
    score_s: float,
    *,
    author: User | None = None,
    device: str = "CPU",
    relative_error: float = 0.001,
    says: str = "",
    board: str = "sort",
) -> int:
    """The number of a submission to a board with this score on the secret data. `says`:
    its last line."""
    submitted = await world.submit(
        author or world.ada.user,
        board=board,
        mode=Mode.LEADERBOARD,
        content=f"# {score_s}\nscore_s = {score_s}\n{says}".encode(),
        devices=(device,),
    )
    values = {
        "id": submitted.id,
        "score_s": score_s,
        "low_s": score_s * (1 - relative_error),
        "high_s": score_s * (1 + relative_error),
        "device": device,
    }
    async with world.database.write() as session:
        await session.do(
            "UPDATE runs SET state = 'dispatched' WHERE submission_id = %(id)s", values
        )
        await session.do(
            "UPDATE runs SET state = 'finished', verdict = 'accepted', finished_at = now(),"
            " score_s = %(score_s)s, ci_low_s = %(low_s)s, ci_high_s = %(high_s)s"
            " WHERE submission_id = %(id)s",
            values,
        )
        await session.one(
            "SELECT refresh_standing(leaderboard_id, %(device)s, author_id) FROM submissions"
            " WHERE id = %(id)s",
            values,
        )
    return submitted.id
