"""A submission's times beside its author's best, the leader's and the device's limit."""

from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.protocol import Case, DeviceSpec, Floor, ProblemSpec, Vendor
from kernelbot.submissions.pages import comparison
from kernelbot.submissions.pages.comparison import ComparedTime, Whose
from tests.render.results import WORKLOAD
from tests.support.front import Front
from tests.support.problems import sort_problem
from tests.support.workers import finished, quick_settings, working

DEVICE = DeviceSpec("H100", Vendor.NVIDIA, "90a", peak_flops=1e12, peak_bytes_per_s=1e12)


def problem(flops: float, memory_bytes: float) -> ProblemSpec:
    spec = sort_problem("sort").spec
    case = Case({"size": 1024, "seed": 7})
    return replace(spec, benchmarks=(case,), floors=(Floor(flops, memory_bytes),))


def test_a_workload_s_bars_are_as_long_as_its_times() -> None:
    twice, half = (replace(WORKLOAD, median_ns=ns) for ns in (2_200_000.0, 550_000.0))
    found = comparison._compared(WORKLOAD, (twice,), (half,), None)
    assert (
        ComparedTime(Whose.MINE, 1_100_000.0, 50.0),
        ComparedTime(Whose.OWN, 2_200_000.0, 100.0),
        ComparedTime(Whose.LEADER, 550_000.0, 25.0),
    ) == found.times


def test_a_workload_that_others_did_not_have_stands_alone() -> None:
    other = replace(WORKLOAD, spec="size: 9")
    found = comparison._compared(WORKLOAD, (other,), (), None)
    assert (1_100_000.0, None) == (found.median_ns(Whose.MINE), found.median_ns(Whose.OWN))


def test_a_workload_reaches_a_share_of_its_own_limit() -> None:
    share = comparison._share(WORKLOAD, problem(1e8, 5.5e8), DEVICE)
    assert pytest.approx(0.5) == share


def test_a_workload_that_the_problem_no_longer_has_reaches_none() -> None:
    other = replace(WORKLOAD, spec="size: 9")
    assert comparison._share(other, problem(1e8, 1e8), DEVICE) is None


async def test_the_page_compares_with_ones_best_and_with_a_leader_whose_code_is_secret(
    front: Front, tmp_path: Path
) -> None:
    await front.world.board()
    numbers = []
    async with working(quick_settings(tmp_path), front.world.database.url):
        for person, score in (
            (front.world.bob, 0.1),
            (front.world.ada, 0.3),
            (front.world.ada, 0.2),
        ):
            sent = await front.world.submit(
                person.user, content=f"# fake: accepted {score} {score} {score}\n".encode()
            )
            await finished(front.world, sent.id)
            numbers.append(sent.id)
    leader, before, last = numbers
    text = (await front.ada.get(f"/submission/{last}")).text
    assert f'<a href="/submission/{before}">your best other' in text
    assert (True, False) == ("the leader 100 ms" in text, f'href="/submission/{leader}"' in text)


# Each run has test_the_page_compares_with_ones_best_and_with_a_leader_whose_code_is_secret.
@pytest.mark.exhaustive
async def test_who_may_no_longer_see_the_board_is_told_nothing_of_its_leader(
    front: Front, tmp_path: Path
) -> None:
    world = front.world
    await world.board()
    await world.services.boards.edit(
        world.admin.user, "sort", BoardEdit(visibility=Visibility.CLOSED)
    )
    invite, other = (await world.services.invites.create(world.admin.user, ("sort",), 2)).codes
    for person, code in ((world.ada, invite), (world.bob, other)):
        await world.services.invites.join(person.user, code)
    async with working(quick_settings(tmp_path), world.database.url):
        for person, score in ((world.bob, 0.1), (world.ada, 0.3)):
            content = f"# fake: accepted {score} {score} {score}\n".encode()
            sent = await world.submit(person.user, content=content)
            await finished(world, sent.id)
    page = f"/submission/{sent.id}"
    before = (await front.ada.get(page)).text
    await world.services.invites.revoke(world.admin.user, invite)
    after = (await front.ada.get(page)).text
    assert [(True, True), (True, False)] == [
        ("Workload by workload" in text, "the leader 100 ms" in text) for text in (before, after)
    ]
