"""What compilers said, in answers of the API."""

from datetime import UTC, datetime, timedelta

from kernelbot.boards.service import BoardEdit
from kernelbot.schemas.values import from_json
from kernelbot.submissions.model import SubmissionView
from tests.support.door import Door
from tests.support.preflights import PREFLIGHT, compiled, report_of


async def test_an_answer_has_it_beside_the_version_before(door: Door) -> None:
    await door.world.board(devices=("H100",))
    await compiled(door.world, b"a = 1\n", report_of(40))
    sent = await compiled(door.world, b"a = 2\n", report_of(64))
    answer = await door.ada.get(f"/api/v1/submissions/{sent.id}")
    listed = (await door.ada.get("/api/v1/submissions")).json()["submissions"]
    assert ((PREFLIGHT,), [[], []]) == (
        from_json(SubmissionView, answer.content).preflights,
        [one["preflights"] for one in listed],
    )


async def test_an_answer_that_is_kept_learns_of_it(door: Door) -> None:
    await door.world.board(devices=("H100",))
    sent = await door.world.submit(content=b"a = 1\n")
    path = f"/api/v1/submissions/{sent.id}"
    before = (await door.ada.get(path)).json()["preflights"]
    await compiled(door.world, b"a = 0\n", report_of(40))
    async with door.world.database.write() as session:
        await session.do(
            "INSERT INTO preflights (submission_id, device, report)"
            " SELECT %(id)s, device, report FROM preflights LIMIT 1",
            {"id": sent.id},
        )
    after = (await door.ada.get(path)).json()["preflights"]
    assert (0, 1) == (len(before), len(after))


async def test_who_may_not_read_the_code_reads_no_figures_of_it(door: Door) -> None:
    await door.world.board(devices=("H100",))
    sent = await compiled(door.world, b"a = 1\n", report_of())
    path = f"/api/v1/submissions/{sent.id}"
    hidden = await door.bob.get(path)
    edit = BoardEdit(reveal_code=True, deadline=datetime.now(UTC) + timedelta(hours=1))
    await door.world.services.boards.edit(door.world.admin.user, "sort", edit)
    async with door.world.database.write() as session:
        await session.do("UPDATE leaderboards SET deadline = now() - interval '1 minute'")
    shown = await door.bob.get(path)
    assert (403, 200, 1) == (hidden.status_code, shown.status_code, len(shown.json()["preflights"]))
    assert "registers" not in hidden.text
