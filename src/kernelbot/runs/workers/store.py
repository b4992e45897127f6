"""Which workers are alive, what they can use, and whose attempts may be taken over."""

from collections.abc import Collection
from dataclasses import asdict

from kernelbot.runs.devices.model import DeviceReport
from kernelbot.runs.job_terms import job_id_of
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.jsontext import clean, dumps
from kernelbot.store.sqlfiles import statements


async def heartbeat(
    session: WriteSession,
    owner: str,
    node: str,
    reports: list[DeviceReport],
    followed: set[int],
    counts: dict[tuple[str, str], float],
) -> set[int]:
    """Store that the owner is alive, what it can use and has counted; returns those of the attempts
    it follows that are still open and its own."""
    sql = statements(__file__)
    await session.do(sql["greet"], {"owner": owner, "node": node})
    rows = [
        {
            "owner": owner,
            "device": r.device,
            "available": r.available,
            "note": clean(r.note),
            "launchers": dumps([asdict(health) for health in r.launchers]),
        }
        for r in reports
    ]
    if rows:
        await session.do_each(sql["report_device"], rows)
    counters = [
        {"owner": owner, "name": name, "label": label, "value": value}
        for (name, label), value in counts.items()
    ]
    if counters:
        await session.do_each(sql["report_counter"], counters)
    values = {"owner": owner, "followed": list(followed)}
    return {row["id"] for row in await session.all(sql["heartbeat"], values)}


async def owners(session: ReadSession, node: str) -> list[str]:
    """Workers of a node and owners of open attempts, alive or not."""
    return [
        row["owner"] for row in await session.all(statements(__file__)["owners"], {"node": node})
    ]


async def expire(session: WriteSession, gone: list[str]) -> int:
    """Let attempts of workers known to be dead be taken over at once; returns how many."""
    sql = statements(__file__)
    expired = await session.all(sql["expire"], {"owners": gone})
    await session.do(sql["forget_workers"], {"owners": gone})
    return len(expired)


async def given_up(session: ReadSession, launchers: Collection[str]) -> list[tuple[str, str]]:
    """By these launchers, the last hundred attempts that ended without a result within a day: the
    launcher's name and the job's id."""
    values = {"launchers": list(launchers)}
    rows = await session.all(statements(__file__)["given_up"], values)
    return [
        (row["launcher"], job_id_of(row["run_id"], row["number"], row["secret"])) for row in rows
    ]
