from pathlib import Path

import pytest

from tests.bot.stage import ADMIN, Stage
from tests.support.problem_sets import commit_all, write_competition, write_problem

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_sync_is_planned_then_applied(stage: Stage, tmp_path: Path) -> None:
    olga = stage.person("olga", ADMIN)
    write_problem(tmp_path, "alpha")
    write_competition(tmp_path, "alpha")
    commit = commit_all(tmp_path)[:12]
    asked = await olga.runs("admin update-problems", repository=f"file://{tmp_path}")
    assert asked.original is not None
    plan = asked.original.content
    assert "+ create: alpha (on CPU)" in plan.splitlines()
    assert [] == await stage.world.services.boards.list_boards(None)
    await olga.clicks(asked.original, "Apply 1")
    assert (asked.original.content.startswith("Done: "), []) == (True, asked.original.parts())
    assert commit in asked.original.content
    assert ["alpha"] == [b.name for b in await stage.world.services.boards.list_boards(None)]
    again = await olga.runs("admin update-problems", repository=f"file://{tmp_path}")
    assert again.original is not None
    assert "There is nothing to apply." in again.original.content


@pytest.mark.parametrize(
    "repository", ["", "file:///nowhere", "a'; echo x", "https://u:p@127.0.0.1:1/x"]
)
async def test_what_cannot_be_fetched_is_said(stage: Stage, repository: str) -> None:
    olga = stage.person("olga", ADMIN)
    asked = await olga.runs("admin update-problems", repository=repository)
    assert asked.original is not None
    assert asked.original.content.startswith("❌ ")
    assert "u:p" not in asked.original.content
