"""What the database itself refuses, whatever the code does."""

import itertools

import psycopg
import pytest

from kernelbot.domain.states import RUN_TRANSITIONS, ReviewState, RunState, submission_state
from tests.support.world import World

ENDS = ("finished", "cancelled")


def _to(state: RunState) -> str:
    verdict = ", verdict = 'accepted'" if state == RunState.FINISHED else ", verdict = NULL"
    ended = "now()" if state in ENDS else "NULL"
    return f"UPDATE runs SET state = '{state}', finished_at = {ended}{verdict}"


@pytest.mark.parametrize(
    ("before", "after"), [p for p in itertools.product(RunState, RunState) if p[0] != p[1]]
)
async def test_only_written_transitions_happen(
    world: World, before: RunState, after: RunState
) -> None:
    await world.board()
    await world.submit()
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        connection.execute("ALTER TABLE runs DISABLE TRIGGER runs_transition")
        connection.execute(_to(before).encode())
        connection.execute("ALTER TABLE runs ENABLE TRIGGER runs_transition")
        if after in RUN_TRANSITIONS[before]:
            connection.execute(_to(after).encode())
        else:
            with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
                connection.execute(_to(after).encode())


async def test_no_run_is_lost(world: World) -> None:
    """Postgres keeps the type's value, so that a constraint has to refuse it."""
    await world.board()
    await world.submit()
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        connection.execute("ALTER TABLE runs DISABLE TRIGGER runs_transition")
        for ended in ("NULL", "now()"):
            with pytest.raises(psycopg.errors.CheckViolation):
                connection.execute(
                    f"UPDATE runs SET state = 'lost', finished_at = {ended}".encode()
                )
        row = connection.execute("SELECT 1 FROM run_transitions WHERE after = 'lost'").fetchone()
    assert row is None


async def test_the_state_of_a_submission_is_the_same_in_sql(world: World) -> None:
    await world.board()
    number = (await world.submit()).id
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        connection.execute("ALTER TABLE runs DISABLE TRIGGER runs_transition")
        for first, second, review in itertools.product(RunState, RunState, ReviewState):
            connection.execute(f"{_to(first)} WHERE secret".encode())
            connection.execute(f"{_to(second)} WHERE NOT secret".encode())
            row = connection.execute("SELECT submission_state(%s, %s)", (number, review)).fetchone()
            assert (submission_state([first, second], review).value,) == row


@pytest.mark.parametrize(
    "change",
    [
        "verdict = 'accepted'",
        "score_s = 1",
        "fault = 'author'",
        "finished_at = now()",
        "state = 'finished', finished_at = now()",
        "state = 'finished', finished_at = now(), verdict = 'accepted', fault = 'author'",
        "state = 'finished', finished_at = now(), verdict = 'wrong_answer'",
        "state = 'finished', finished_at = now(), verdict = 'accepted', score_s = 'NaN'",
        "state = 'finished', finished_at = now(), verdict = 'accepted', score_s = 'Infinity'",
        "state = 'finished', finished_at = now(), verdict = 'accepted', score_s = 0",
        "state = 'finished', finished_at = now(), verdict = 'accepted', score_s = -1",
        "state = 'finished', finished_at = now(), verdict = 'accepted', score_s = 1, ci_low_s = 1",
        (
            "state = 'finished', finished_at = now(), verdict = 'wrong_answer', fault = 'author',"
            " score_s = 1"
        ),
        "state = 'finished', verdict = 'accepted'",
    ],
)
async def test_impossible_rows_are_refused(world: World, change: str) -> None:
    await world.board()
    await world.submit()
    with (
        psycopg.connect(world.database.url) as connection,
        pytest.raises(psycopg.errors.CheckViolation),
    ):
        connection.execute(f"UPDATE runs SET {change}".encode())


async def test_a_problem_version_never_changes(world: World) -> None:
    await world.board()
    with (
        psycopg.connect(world.database.url) as connection,
        pytest.raises(psycopg.errors.IntegrityConstraintViolation),
    ):
        connection.execute("UPDATE problem_versions SET harness = 'script'")
