"""How soon the Discord bot acknowledges while submissions run, and how much it asks of Discord.

Run with `python -m benchmarks.discord_bot [--count N] [--running N] [--seconds N]`. A real
discord.py talks to the fake Discord of the tests over loopback; a worker judges with the fake
harness. Bot, fake, services and worker share one process here, so a machine that runs them apart
is faster.
"""

import argparse
import asyncio
import statistics
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from tests.bot.stage import Stage, open_stage
from tests.fakes.discord import Interaction, Upload
from tests.support.postgres import test_server
from tests.support.workers import quick_settings, working

from kernelbot.bot.rules import BotRules
from kernelbot.render.table import table

PEOPLE = 10


async def measure(url: str, folder: Path, count: int, running: int, run_s: int) -> None:
    """Submit, then ask `count` times while all of it runs. `run_s`: how long each run lasts, which
    must be enough for all of them to be started."""
    settings = quick_settings(folder, slots=running)
    async with AsyncExitStack() as stack:
        stage = await stack.enter_async_context(open_stage(url))
        stage.rules = replace(stage.rules, edit_pause_s=BotRules.edit_pause_s)
        await stack.enter_async_context(stage.running())
        await stack.enter_async_context(working(settings, url))
        await stage.world.board("sort")
        submitted = await asyncio.gather(
            *(_submit(stage, number, run_s) for number in range(running))
        )
        await stage.discord.until(lambda: _at_work(submitted) == running, within_s=60)
        before = Counter(stage.discord.requests)
        asked = [await _ask(stage, number) for number in range(count)]
        still_running = _at_work(submitted)
        during = stage.discord.requests - before
        await stage.discord.until(lambda: _ended(submitted) == running, within_s=120)
        _report(stage, submitted, asked, still_running, during)


async def _submit(stage: Stage, number: int, run_s: int) -> Interaction:
    person = stage.person(f"person-{number % PEOPLE}")
    file = Upload("fast.py", b"# fake: sleep %d accepted\n# %d\n" % (run_s, number))
    return await person.runs("leaderboard submit test", script=file, leaderboard_name="sort")


async def _ask(stage: Stage, number: int) -> Interaction:
    person = stage.person(f"person-{number % PEOPLE}")
    commands = ("leaderboard list", "ping", "leaderboard help")
    return await person.runs(commands[number % len(commands)])


def _at_work(submitted: list[Interaction]) -> int:
    return sum("running" in one.original.content for one in submitted if one.original)


def _ended(submitted: list[Interaction]) -> int:
    return sum("accepted" in one.original.content for one in submitted if one.original)


def _report(
    stage: Stage,
    submitted: list[Interaction],
    asked: list[Interaction],
    still_running: int,
    during: Counter[str],
) -> None:
    edits = [one.original.edits for one in submitted if one.original]
    took_ms = [one.took_s * 1e3 for one in asked]
    began_ms = [one.took_s * 1e3 for one in submitted]
    rows = [
        ("commands asked while submissions ran", f"{len(asked)} ({still_running} at the end)"),
        ("acknowledged after, median", f"{statistics.median(took_ms):.1f} ms"),
        ("acknowledged after, worst", f"{max(took_ms):.1f} ms"),
        ("submits at once acknowledged after, median", f"{statistics.median(began_ms):.1f} ms"),
        ("submits at once acknowledged after, worst", f"{max(began_ms):.1f} ms"),
        ("edits per submission, median", f"{statistics.median(edits):.0f}"),
        ("edits per submission, most", f"{max(edits)}"),
        ("requests while asking", f"{during.total()} ({during.total() / len(asked):.1f} each)"),
        ("requests refused for a limit", f"{len(stage.discord.limited_at_s)}"),
        ("requests that broke a rule", f"{len(stage.discord.refused)}"),
    ]
    print(table(("figure", "value"), rows, right=("value",)))
    print()
    print(
        table(("request", "times"), [(k, str(v)) for k, v in stage.discord.requests.most_common()])
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--running", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=8, help="how long a run lasts")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        test_server() as server,
        server.database() as url,
    ):
        asyncio.run(measure(url, Path(folder), given.count, given.running, given.seconds))


if __name__ == "__main__":
    main()
