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


async def test_the_button_applies_the_commit_that_the_plan_was_made_of(
    stage: Stage, tmp_path: Path
) -> None:
    """Somebody pushes between the plan and the button."""
    olga = stage.person("olga", ADMIN)
    write_problem(tmp_path, "beta")
    write_competition(tmp_path, "beta")
    commit = commit_all(tmp_path)[:12]
    asked = await olga.runs("admin update-problems", repository=f"file://{tmp_path}")
    assert asked.original is not None
    write_problem(tmp_path, "gamma")
    write_competition(tmp_path, "beta", "gamma")
    commit_all(tmp_path)
    await olga.clicks(asked.original, "Apply 1")
    names = [b.name for b in await stage.world.services.boards.list_boards(None)]
    assert (True, False) == ("beta" in names, "gamma" in names)
    assert commit in asked.original.content


async def test_if_the_plan_is_another_by_now_nothing_is_done(stage: Stage, tmp_path: Path) -> None:
    olga = stage.person("olga", ADMIN)
    write_problem(tmp_path, "delta")
    write_competition(tmp_path, "delta")
    commit_all(tmp_path)
    asked = await olga.runs("admin update-problems", repository=f"file://{tmp_path}")
    assert asked.original is not None
    await stage.world.board("delta")
    pressed = await olga.clicks(asked.original, "Apply 1")
    assert "Something has changed since the plan was shown" in pressed.messages[-1].content
    assert "Done: " not in asked.original.content


@pytest.mark.parametrize(
    "repository", ["", "file:///nowhere", "a'; echo x", "https://u:p@127.0.0.1:1/x"]
)
async def test_what_cannot_be_fetched_is_said(stage: Stage, repository: str) -> None:
    olga = stage.person("olga", ADMIN)
    asked = await olga.runs("admin update-problems", repository=repository)
    assert asked.original is not None
    assert asked.original.content.startswith("❌ ")
    assert "u:p" not in asked.original.content
