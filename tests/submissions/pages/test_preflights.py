"""What a submission's page shows of what compilers said."""

from dataclasses import replace

from tests.support.front import Front
from tests.support.preflights import HOSTILE, REFUSED, compiled, mi300x_report, report_of


async def test_the_page_has_a_table(front: Front) -> None:
    await front.world.board(devices=("H100",))
    await compiled(front.world, b"a = 1\n", report_of(40))
    sent = await compiled(front.world, b"a = 2\n", report_of(64))
    page = (await front.ada.get(f"/submission/{sent.id}")).text
    parts = ("Preflight for <bdi>H100</bdi>", ">add<", '64 <span class="quiet">(40)</span>',
             "<code>submission.cu:3:7</code> warning: never used")  # fmt: skip
    assert [] == [part for part in parts if part not in page]


async def test_amds_registers_have_columns_of_their_own(front: Front) -> None:
    await front.world.board(devices=("H100",))
    sent = await compiled(front.world, b"a = 1\n", mi300x_report())
    page = (await front.ada.get(f"/submission/{sent.id}")).text
    parts = ('<th scope="col" class="end">Accum</th><th scope="col" class="end">Scalar</th>',
             'data-heading="Accum">64</td>',
             "Accum: of these, those for matrix cores and spills (AGPRs)",
             "scan can&#39;t be launched with 256 threads: ")  # fmt: skip
    assert [] == [part for part in parts if part not in page]


async def test_an_error_has_its_place(front: Front) -> None:
    await front.world.board(devices=("H100",))
    sent = await compiled(front.world, b"a = 1\n", REFUSED)
    page = (await front.ada.get(f"/submission/{sent.id}")).text
    assert "<code>submission.cu:3</code> error: identifier" in page


async def test_hostile_names_stay_text(front: Front) -> None:
    await front.world.board(devices=("H100",))
    report = report_of(name=HOSTILE)
    warning = replace(report.diagnostics[0], file=HOSTILE, message=HOSTILE)
    sent = await compiled(front.world, b"a = 1\n", replace(report, diagnostics=(warning,)))
    page = (await front.ada.get(f"/submission/{sent.id}")).text
    assert (False, False) == ("<script>alert" in page, "\u202e" in page)


async def test_nobody_else_sees_it(front: Front) -> None:
    await front.world.board(devices=("H100",))
    sent = await compiled(front.world, b"a = 1\n", report_of())
    answer = await front.bob.get(f"/submission/{sent.id}")
    assert (403, False) == (answer.status_code, "submission.cu" in answer.text)
