"""A competition of some size: 1,000,000 submissions with 4,000,000 runs over 50 boards by 20,000
authors, the largest board with 150,000 submissions of 15,000 authors. Made once and kept."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import psycopg
from psycopg.types.json import Jsonb

from kernelbot.accounts.model import Role
from kernelbot.accounts.tokens.text import token_hash
from kernelbot.catalog.problem import load_problem
from kernelbot.protocol import (
    CaseResult,
    DeviceSpec,
    HarnessKind,
    Mode,
    Phase,
    PhaseResult,
    RunResult,
    SandboxReport,
    SystemInfo,
    Vendor,
    Verdict,
    WorkloadResult,
    to_wire,
)
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.server.wiring import open_services
from kernelbot.store.code import using
from kernelbot.store.migrate import migrate
from kernelbot.store.samples import pack
from kernelbot.store.schema import this_code

BOARDS = 50
CLIENTS = 64
DEVICES = tuple(
    DeviceConfig(DeviceSpec(name, vendor), ("local",), 1)
    for name, vendor in (("CPU", Vendor.CPU), ("H100", Vendor.NVIDIA))
)
_HERE = Path(__file__).resolve().parent
_PROBLEM = _HERE.parent / "examples" / "identity_np"


def token_of(client: int) -> str:
    """The token of one of the authors who take part: authors of the latest submissions."""
    return f"kb_benchmark_{client}"


def seeded(url: str) -> bool:
    """Whether the data is there."""
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute("SELECT to_regclass('benchmark_is_seeded')").fetchone()
    return row is not None and row[0] is not None


def seed(url: str) -> None:
    """Make it all. Blocks for minutes."""
    migrate(url)
    asyncio.run(_open_boards(url))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(*using(this_code()))
        values = {"result": Jsonb(to_wire(_result())), "samples": pack((1e5,) * 100)}
        for statement in _statements():
            names = re.findall(r":(result|samples)", statement)
            sql = re.sub(r"(?<!:):(result|samples)", r"%(\1)s", statement.replace("%", "%%"))
            connection.execute(sql if names else statement, values if names else None)
        _add_tokens(connection)
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("CREATE TABLE benchmark_is_seeded ()")


def _statements() -> list[str]:
    text = (_HERE / "standings_data.sql").read_text()
    return [part for part in re.split(r";\s*\n", text) if part.strip()]


def _add_tokens(connection: psycopg.Connection) -> None:
    rows = connection.execute(
        "SELECT DISTINCT author_id FROM submissions"
        " WHERE id > (SELECT max(id) - 1000 FROM submissions) ORDER BY 1 LIMIT %s",
        (CLIENTS,),
    ).fetchall()
    for client, (user_id,) in enumerate(rows):
        connection.execute(
            "INSERT INTO tokens (user_id, name, hash) VALUES (%s, 'benchmark', %s)",
            (user_id, token_hash(token_of(client))),
        )


async def _open_boards(url: str) -> None:
    definition = load_problem(_PROBLEM).definition
    async with open_services(url, DEVICES) as core:
        admin = await core.services.users.create("benchmark-admin", Role.ADMIN)
        for number in range(1, BOARDS + 1):
            named = replace(definition, spec=replace(definition.spec, name=f"problem-{number}"))
            await core.services.boards.create(
                admin.user, named, name=f"board-{number}", devices=("CPU", "H100")
            )


def _result() -> RunResult:
    """What a run of eight tests and four workloads leaves, without the samples."""
    loads = tuple(
        WorkloadResult(f"size: {n}", (), 1e5, 1e5, 10.0, (0.9e5, 1.1e5), 0.9e5, 2e5)
        for n in range(4)
    )
    cases = tuple(CaseResult(f"size: {n}; seed: {n}", Verdict.ACCEPTED, "") for n in range(8))
    return RunResult(
        job_id="benchmark",
        problem="identity",
        mode=Mode.LEADERBOARD,
        harness=HarnessKind.NATIVE,
        verdict=Verdict.ACCEPTED,
        system=SystemInfo("CPU", "a CPU", "Linux", "3.11", None),
        sandbox=SandboxReport("required", ("namespaces", "seccomp"), ()),
        score_s=1e-4,
        phases=(
            PhaseResult(Phase.TEST, Verdict.ACCEPTED, 0.1, cases=cases),
            PhaseResult(Phase.LEADERBOARD, Verdict.ACCEPTED, 1.0, workloads=loads),
        ),
    )
