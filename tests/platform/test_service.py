import pytest

from kernelbot.domain.errors import NotAllowed, Paused, UserError
from kernelbot.platform.model import PlatformState
from kernelbot.platform.service import check_accepting
from kernelbot.server.wiring import open_services
from tests.support.world import DEVICES, World


async def test_a_fresh_platform_takes_submissions(world: World) -> None:
    assert PlatformState(True, "") == await world.services.platform.state()


async def test_a_paused_platform_says_why(world: World) -> None:
    await world.board()
    await world.services.platform.pause(world.admin.user, "The cluster moves.")
    with pytest.raises(Paused, match=r"^Submissions are paused just now: The cluster moves\.$"):
        await world.submit()


@pytest.mark.parametrize(
    ("file_name", "board"), [("x.txt", "sort"), ("x.py", "nowhere"), ("x.py", None)]
)
async def test_a_pause_is_reported_before_a_mistake(
    world: World, file_name: str, board: str | None
) -> None:
    await world.services.platform.pause(world.admin.user)
    with pytest.raises(Paused):
        await world.submit(file_name=file_name, board=board)


async def test_a_pause_outlives_the_process(world: World) -> None:
    await world.services.platform.pause(world.admin.user, "moving")
    async with open_services(world.database.url, DEVICES) as core:
        assert PlatformState(False, "moving") == await core.services.platform.state()


async def test_a_resumed_platform_takes_submissions(world: World) -> None:
    await world.board()
    await world.services.platform.pause(world.admin.user)
    await world.services.platform.resume(world.admin.user)
    assert "sort" == (await world.submit()).board


async def test_what_was_accepted_before_a_pause_stays(world: World) -> None:
    await world.board()
    before = await world.submit()
    await world.services.platform.pause(world.admin.user)
    assert None is not await world.services.submissions.queue_position(before.id)


async def test_only_admins_pause(world: World) -> None:
    with pytest.raises(NotAllowed):
        await world.services.platform.pause(world.ada.user)


@pytest.mark.parametrize(
    ("given", "kept", "said"),
    [
        (" The cluster moves.\n", "The cluster moves.", "just now: The cluster moves."),
        ("x" * 500, "x" * 500, f"just now: {'x' * 500}."),
        ("", "", "just now."),
    ],
)
async def test_a_reason_is_kept_and_told(world: World, given: str, kept: str, said: str) -> None:
    paused = await world.services.platform.pause(world.admin.user, given)
    assert PlatformState(False, kept) == paused == await world.services.platform.state()
    with pytest.raises(Paused) as refused:
        check_accepting(paused)
    assert (f"Submissions are paused {said}", "Try again later; nothing is lost.") == (
        str(refused.value),
        refused.value.hint,
    )


@pytest.mark.parametrize("reason", ["x" * 501, "a\x00b"])
async def test_unusable_reasons_are_refused(world: World, reason: str) -> None:
    with pytest.raises(UserError, match="A reason has at most 500"):
        await world.services.platform.pause(world.admin.user, reason)
