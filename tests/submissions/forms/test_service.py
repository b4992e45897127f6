"""One form, one submission."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from kernelbot.domain.errors import InvalidSubmission, KernelbotError, UserError
from kernelbot.protocol import Mode
from kernelbot.submissions.creation.service import FormSent
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


CHANGES: list[dict[str, Any]] = [
    {"content": CORRECT + b"# better\n"},
    {"mode": Mode.LEADERBOARD},
    {"devices": ("H100",)},
    {"devices": ("CPU", "H100")},
    {"file_name": "b.py"},
    {"board": "other"},
]


@pytest.mark.parametrize("changed", CHANGES, ids=lambda changed: next(iter(changed)))
async def test_a_form_sent_again_with_something_else_is_refused(
    world: World, changed: dict[str, Any]
) -> None:
    """Not shown the submission of what was sent before, as if it were of this."""
    for name in ("sort", "other"):
        await world.board(name, devices=("CPU", "H100"))
    submit = world.services.forms.submit
    made = await submit(world.ada.user, NEW, FORM)
    with pytest.raises(FormSent, match=f"submission {made} already, of something else"):
        await submit(world.ada.user, replace(NEW, **changed), FORM)
    assert 1 == len(await world.services.submission_lists.own(world.ada.user))
    assert made < await submit(world.ada.user, replace(NEW, **changed), "another-form-now")


SAME: list[dict[str, Any]] = [
    {"content": b"\xef\xbb\xbf" + CORRECT},
    {"devices": ("cpu", "CPU")},
    {"devices": ()},
    {"board": "SORT"},
]


@pytest.mark.parametrize("changed", SAME, ids=lambda changed: next(iter(changed)))
async def test_the_same_written_otherwise_is_the_form_s_submission(
    world: World, changed: dict[str, Any]
) -> None:
    await world.board()
    made = await world.services.forms.submit(world.ada.user, NEW, FORM)
    assert made == await world.services.forms.submit(world.ada.user, replace(NEW, **changed), FORM)


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
