"""A submission for two devices that an admin cancels once it is ranked on one."""

from datetime import UTC, datetime

import pytest

from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import NotAllowed
from kernelbot.protocol import Mode
from tests.support.world import World


@pytest.mark.parametrize("canceller", ["admin", "ada"])
async def test_it_is_ranked_no_more(world: World, canceller: str) -> None:
    await world.board(devices=("CPU", "H100"))
    sent = await world.submit(mode=Mode.LEADERBOARD, devices=("CPU", "H100"))
    async with world.database.write() as session:
        await session.do("UPDATE runs SET state = 'dispatched' WHERE device = 'CPU'")
        await session.do(
            "UPDATE runs SET state = 'finished', verdict = 'accepted', finished_at = now(),"
            " score_s = 1, ci_low_s = 1, ci_high_s = 1 WHERE device = 'CPU'"
        )
        await session.one(
            "SELECT refresh_standing(leaderboard_id, 'CPU', author_id) FROM submissions"
        )
    count = world.services.standings.count
    before = await count(None, "sort", "CPU")
    user = {"admin": world.admin.user, "ada": world.ada.user}[canceller]
    await world.services.submissions.cancel(user, sent.id)
    assert [1, 0] == [before, await count(None, "sort", "CPU")]


async def test_who_may_merely_read_the_code_cancels_nothing(world: World) -> None:
    await world.board()
    sent = await world.submit()
    ended = BoardEdit(deadline=datetime(2026, 1, 1, tzinfo=UTC), reveal_code=True)
    await world.services.boards.edit(world.admin.user, "sort", ended)
    assert sent.id == (await world.services.submissions.get(world.bob.user, sent.id)).id
    with pytest.raises(NotAllowed, match=f"^Submission {sent.id} is someone else's.$"):
        await world.services.submissions.cancel(world.bob.user, sent.id)
