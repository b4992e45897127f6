"""The interval that is shown of a ranked run is the ranking's."""

from pathlib import Path

import psycopg
import pytest

from kernelbot.ranking.model import ScoreInterval
from kernelbot.runs.model import Run
from kernelbot.schemas.values import from_json, to_json
from kernelbot.submissions.model import Submission, SubmissionView
from tests.support.ranked import ranked
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World


def _secret(found: Submission) -> Run:
    return next(run for run in found.runs if run.secret)


def _shown(world: World, scatter: float, pairs: int) -> None:
    """What the device had shown before the runs that are there."""
    with psycopg.connect(world.database.url) as connection:
        connection.execute("UPDATE runs SET scatter = %s, scatter_pairs = %s", (scatter, pairs))
        connection.execute("SELECT rebuild_standings()")


async def test_it_is_that_of_the_standing(world: World) -> None:
    await world.board()
    number = await ranked(world, 1.0, relative_error=0.01)
    _shown(world, 0.05, 3)
    interval = _secret(await world.services.submissions.get(world.ada.user, number)).interval
    (standing,) = (await world.services.standings.page(None, "sort", None)).standings
    assert standing.ci95_s is not None
    assert ScoreInterval(standing.ci95_s, (0.99, 1.01), 0.05, 3) == interval
    assert standing.ci95_s < (0.91, 1.1)


async def test_lists_show_it_as_well(world: World) -> None:
    await world.board()
    number = await ranked(world, 1.0, relative_error=0.01)
    _shown(world, 0.05, 3)
    alone = await world.services.submissions.get(world.ada.user, number)
    (listed,) = await world.services.submission_lists.own(
        world.ada.user, board="sort", limit=5, before_id=None
    )
    assert _secret(alone).interval == _secret(listed).interval


async def test_a_public_run_has_none(world: World) -> None:
    await world.board()
    number = await ranked(world, 1.0)
    found = await world.services.submissions.get(world.ada.user, number)
    assert [None] == [run.interval for run in found.runs if not run.secret]


async def test_a_score_without_an_interval_has_none(world: World) -> None:
    await world.board()
    number = await ranked(world, 1.0)
    with psycopg.connect(world.database.url) as connection:
        connection.execute("UPDATE runs SET ci_low_s = NULL, ci_high_s = NULL")
    assert None is _secret(await world.services.submissions.get(world.ada.user, number)).interval


async def test_a_judged_run_says_that_its_device_had_shown_nothing(
    world: World, tmp_path: Path
) -> None:
    await world.board()
    sent = await world.submit(content=b"# fake: accepted 1.0\n")
    async with working(quick_settings(tmp_path), world.database.url):
        found = await finished(world, sent.id)
    interval = _secret(found).interval
    assert interval is not None
    assert 0 == interval.pairs
    assert pytest.approx(0.05 * (1 + 1.21 / 12)) == interval.scatter
    (result,) = (run.result for run in found.runs if run.secret)
    assert result is not None
    assert result.score_ci95_s == interval.own_ci95_s
    assert interval.ci95_s[0] < interval.own_ci95_s[0]
    sent_back = from_json(SubmissionView, to_json(SubmissionView, found))
    assert [None, interval] == [run.interval for run in sent_back.runs]


@pytest.mark.exhaustive  # each run has test_a_judged_run_says_that_its_device_had_shown_nothing
async def test_after_a_rejudge_it_is_that_of_the_new_score(world: World, tmp_path: Path) -> None:
    await world.board()
    sent = await world.submit(content=b"# fake: accepted 1.0\n")
    async with working(quick_settings(tmp_path), world.database.url):
        await finished(world, sent.id)
        with psycopg.connect(world.database.url) as connection:
            connection.execute("UPDATE sources SET content = '# fake: accepted 1.2'")
        started = await world.services.rejudging.start(world.admin.user, "sort")
        while started.finished_at is None:
            started = await world.services.rejudging.get(world.admin.user, "sort", started.id)
    run = _secret(await world.services.submissions.get(world.ada.user, sent.id))
    assert run.interval is not None
    assert (1.2, 0) == (run.score_s, run.interval.pairs)
    assert run.interval.own_ci95_s[0] <= 1.2 <= run.interval.own_ci95_s[1]
