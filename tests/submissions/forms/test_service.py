"""One form, one submission."""

import asyncio

import pytest

from kernelbot.domain.errors import InvalidSubmission, KernelbotError, UserError
from kernelbot.protocol import Mode
from kernelbot.submissions.model import NewSubmission
from tests.support.problems import CORRECT
from tests.support.world import World

FORM = "0123456789abcdef"
NEW = NewSubmission("sort", ("CPU",), Mode.TEST, "a.py", CORRECT)
EMPTY = NewSubmission("sort", ("CPU",), Mode.TEST, "a.py", b"")


async def test_a_form_sent_many_times_at_once_makes_one_submission(world: World) -> None:
    await world.board()
    submit = world.services.forms.submit
    made = await asyncio.gather(*(submit(world.ada.user, NEW, FORM) for _ in range(6)))
    assert 1 == len(set(made))


async def test_a_form_that_was_refused_may_be_sent_again(world: World) -> None:
    await world.board()
    with pytest.raises(InvalidSubmission):
        await world.services.forms.submit(world.ada.user, EMPTY, FORM)
    assert 0 < await world.services.forms.submit(world.ada.user, NEW, FORM)


async def test_a_form_that_we_were_stopped_at_may_be_sent_again(world: World) -> None:
    await world.board()
    await fail_before_the_commit(world)
    with pytest.raises(KernelbotError):
        await world.services.forms.submit(world.ada.user, NEW, FORM)
    async with world.database.write() as session:
        await session.do("DROP TRIGGER stopped ON submissions")
    made = await world.services.forms.submit(world.ada.user, NEW, FORM)
    assert made == await world.services.forms.submit(world.ada.user, NEW, FORM)


async def fail_before_the_commit(world: World) -> None:
    """As if we were killed when all is written: the transaction ends without its commit."""
    async with world.database.write() as session:
        await session.do(
            "CREATE FUNCTION stop_here() RETURNS trigger LANGUAGE plpgsql AS $$"
            " BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$"
        )
        await session.do(
            "CREATE CONSTRAINT TRIGGER stopped AFTER INSERT ON submissions"
            " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stop_here()"
        )


@pytest.mark.parametrize("form", ["", "short", "a'; echo x       ", "\x00" * 20, "x" * 65])
async def test_other_texts_are_no_forms(world: World, form: str) -> None:
    with pytest.raises(UserError):
        await world.services.forms.submit(world.ada.user, NEW, form)


async def test_forms_of_yesterday_are_forgotten(world: World) -> None:
    await world.board()
    await world.services.forms.submit(world.ada.user, NEW, FORM)
    async with world.database.write() as session:
        await session.do("UPDATE sent_forms SET sent_at = now() - interval '2 days'")
    await world.services.forms.submit(world.ada.user, NEW, "another-form-now")
    async with world.database.read() as session:
        row = await session.one("SELECT count(*) AS kept FROM sent_forms")
    assert {"kept": 1} == row
