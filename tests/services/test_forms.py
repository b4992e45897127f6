"""One form, one submission."""

import asyncio

import pytest

from kernelbot.domain.errors import Conflict, InvalidSubmission, UserError
from kernelbot.domain.types import NewSubmission
from kernelbot.protocol import Mode
from kernelbot.services import forms
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


async def test_a_form_of_which_nothing_is_known_makes_nothing_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.board()
    monkeypatch.setattr(forms, "_PAUSE_S", 0.0)
    async with world.database.write() as session:
        values = {"id": world.ada.user.id, "form": FORM}
        await session.do(
            "INSERT INTO sent_forms (author_id, form) VALUES (%(id)s, %(form)s)", values
        )
    with pytest.raises(Conflict):
        await world.services.forms.submit(world.ada.user, NEW, FORM)


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
