"""Duels: which wait, and what came of them."""

from kernelbot.duels.model import Duel, Ratio, with_sentence
from kernelbot.protocol import DuelResult, RunResult
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, Row, WriteSession
from kernelbot.store.results import read_result
from kernelbot.store.sqlfiles import statements


async def configure(session: WriteSession, places: int | None) -> None:
    """From now on neighbours are dueled in so many first places; None: there are no duels."""
    await session.do(statements(__file__)["configure"], {"places": places})


async def enqueue(session: WriteSession, device: str) -> bool:
    """Put the first duel of the device that isn't in the queue into it; whether there was one."""
    row = await session.one(statements(__file__)["enqueue"], {"device": device})
    return row is not None and row["run_id"] is not None


async def can_decide(session: ReadSession, duel_id: int) -> bool:
    """Whether the duel's outcome can still decide something."""
    row = await session.one(statements(__file__)["matters"], {"duel_id": duel_id})
    return row is not None and bool(row["matters"])


async def cancel_run(session: WriteSession, run_id: int) -> None:
    """Take the duel's run, which waits, out of the queue, and announce the next turn."""
    await session.do(statements(__file__)["cancel_run"], {"run_id": run_id})


async def measured(session: WriteSession, duel_id: int, ratio: Ratio) -> None:
    """Store what it showed, and let that decide."""
    values = {"duel_id": duel_id, "ratio": ratio.value, "low": ratio.low, "high": ratio.high}
    await session.one(statements(__file__)["measured"], values)


async def would_win(session: ReadSession, duel_id: int, ratio: Ratio) -> bool:
    """Whether its run would replace its author's best by showing this."""
    values = {"duel_id": duel_id, "ratio": ratio.value, "high": ratio.high}
    row = await session.one(statements(__file__)["would_win"], values)
    return row is not None and bool(row["wins"])


async def failed(session: WriteSession, duel_id: int, note: str, *, refused: bool = False) -> None:
    """The duel has ended without a ratio. `refused`: see `Duel`."""
    sql = statements(__file__)
    await session.do(sql["failed"], {"duel_id": duel_id, "note": note, "refused": refused})
    await session.one(sql["settle"], {"duel_id": duel_id})


async def opponent_of(session: ReadSession, duel_id: int) -> int | None:
    """The opponent's submission; None if the duel is gone."""
    row = await session.one(statements(__file__)["opponent"], {"duel_id": duel_id})
    return None if row is None else int(row["opponent_id"])


async def had_shared_seed(session: ReadSession, duel_id: int) -> bool:
    """Whether its run had the seed that all secret runs of the board shared."""
    row = await session.one(statements(__file__)["shared_seed"], {"duel_id": duel_id})
    return row is not None and bool(row["shared"])


async def of_board(
    session: ReadSession,
    leaderboard_id: int,
    device: str | None,
    *,
    submission_id: int | None = None,
    duel_id: int | None = None,
    limit: int = 1,
    before_id: int | None = None,
) -> list[Duel]:
    """A board's duels, the newest first. `device` None: on all. `submission_id`: only those that
    it was in. `duel_id`: only this one."""
    values = {
        "leaderboard_id": leaderboard_id,
        "device": device,
        "submission_id": submission_id,
        "duel_id": duel_id,
        "limit": limit,
        "before_id": before_id,
    }
    return [_duel(row) for row in await session.all(statements(__file__)["of_board"], values)]


async def result(session: ReadSession, duel_id: int) -> DuelResult | None:
    """All that was measured in it; None if nothing was."""
    row = await session.one(statements(__file__)["result"], {"duel_id": duel_id})
    return None if row is None else read_result(row["result"]).duel


async def returned(session: ReadSession, run_id: int) -> RunResult | None:
    """What a duel's run showed before it was measured again; None: it wasn't."""
    row = await session.one(statements(__file__)["returned"], {"run_id": run_id})
    return None if row is None else read_result(row["result"])


def _duel(row: Row) -> Duel:
    value, low, high = (row.pop(name) for name in ("ratio", "ratio_low", "ratio_high"))
    ratio = None if value is None else Ratio(value, low, high)
    least_ratio = row.pop("least_ratio")
    return with_sentence(from_row(Duel, {**row, "ratio": ratio, "sentence": ""}), least_ratio)
