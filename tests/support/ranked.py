"""Submissions that were judged, without a judge."""

from collections.abc import Mapping

from kernelbot.accounts.model import User
from kernelbot.moderation.rejudges import store as rejudges
from kernelbot.moderation.rejudges.model import Rejudge
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
    await judged(world, submitted.id, score_s, device=device, relative_error=relative_error)
    return submitted.id


async def judged(
    world: World,
    number: int,
    score_s: float,
    *,
    device: str = "CPU",
    relative_error: float = 0.001,
) -> None:
    """What waited of a submission was accepted, with this score on the secret data."""
    values = {
        "id": number,
        "score_s": score_s,
        "low_s": score_s * (1 - relative_error),
        "high_s": score_s * (1 + relative_error),
        "device": device,
    }
    async with world.database.write() as session:
        await session.do(
            "UPDATE runs SET state = 'dispatched' WHERE submission_id = %(id)s"
            " AND rejudge_id IS NULL",
            values,
        )
        await session.do(
            "UPDATE runs SET state = 'finished', verdict = 'accepted', finished_at = now(),"
            " score_s = %(score_s)s, ci_low_s = %(low_s)s, ci_high_s = %(high_s)s"
            " WHERE submission_id = %(id)s AND rejudge_id IS NULL",
            values,
        )
        await session.one(
            "SELECT refresh_standing(leaderboard_id, %(device)s, author_id) FROM submissions"
            " WHERE id = %(id)s",
            values,
        )


async def judged_on(world: World, number: int, scores: Mapping[str, float]) -> None:
    """A submission to several devices was accepted, with these scores on the secret data."""
    async with world.database.write() as session:
        for device, score_s in scores.items():
            values = {"id": number, "score_s": score_s, "device": device}
            await session.do(
                "UPDATE runs SET state = 'dispatched'"
                " WHERE submission_id = %(id)s AND device = %(device)s",
                values,
            )
            await session.do(
                "UPDATE runs SET state = 'finished', verdict = 'accepted', finished_at = now(),"
                " score_s = %(score_s)s, ci_low_s = %(score_s)s::float8 * 0.999,"
                " ci_high_s = %(score_s)s::float8 * 1.001"
                " WHERE submission_id = %(id)s AND device = %(device)s",
                values,
            )
            await session.one(
                "SELECT refresh_standing(leaderboard_id, %(device)s, author_id) FROM submissions"
                " WHERE id = %(id)s",
                values,
            )


async def rejudged(world: World, scores: Mapping[int, float | None], board: str = "sort") -> None:
    """A rejudge finds these scores of submissions; None: a wrong answer."""
    started = await world.services.rejudging.start(world.admin.user, board)
    await rejudge_ends(world, started, scores)


async def rejudge_ends(world: World, started: Rejudge, scores: Mapping[int, float | None]) -> None:
    """A rejudge that waited has found these scores, of all of its submissions."""
    async with world.database.write() as session:
        for number, score_s in scores.items():
            values = {"rejudge": started.id, "id": number, "score_s": score_s}
            await session.do(
                "UPDATE runs SET state = 'dispatched'"
                " WHERE rejudge_id = %(rejudge)s AND submission_id = %(id)s",
                values,
            )
            await session.do(
                "UPDATE runs SET state = 'finished', finished_at = now(), score_s = %(score_s)s,"
                " ci_low_s = %(score_s)s::float8 * 0.999, ci_high_s = %(score_s)s::float8 * 1.001,"
                " verdict = CASE WHEN %(score_s)s::float8 IS NULL THEN 'wrong_answer'"
                " ELSE 'accepted' END::run_verdict,"
                " fault = CASE WHEN %(score_s)s::float8 IS NULL THEN 'author' END::fault"
                " WHERE rejudge_id = %(rejudge)s AND submission_id = %(id)s",
                values,
            )
        await rejudges.ended(session, started.id)
