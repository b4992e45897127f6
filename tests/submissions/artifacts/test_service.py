from pathlib import Path

import pytest

from kernelbot.domain.errors import NotAllowed, NotFound
from kernelbot.protocol import Mode
from kernelbot.submissions.model import Submission
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World

pytestmark = pytest.mark.each_run(
    "test_a_submission_shows_texts_and_names_the_rest",
    "test_files_of_secret_runs_are_for_organisers",
)

NAMES = ["2-_a___echo_x", "_a___echo_x", "profile.0.trace.json.gz", "profile.0.txt"]


async def profiled(world: World, tmp_path: Path, mode: Mode = Mode.PROFILE) -> Submission:
    await world.board()
    sent = await world.submit(mode=mode, content=b"# fake: accepted\n")
    async with working(quick_settings(tmp_path), world.database.url):
        return await finished(world, sent.id)


async def test_files_are_listed_under_safe_names(world: World, tmp_path: Path) -> None:
    shown = await profiled(world, tmp_path)
    found = await world.services.artifacts.list_artifacts(world.ada.user, shown.id)
    assert NAMES == [file.name for file in found]
    assert [5, 8, 2, 7] == [file.size_bytes for file in found]
    assert {(shown.runs[0].id, "CPU")} == {(file.run_id, file.device) for file in found}


async def test_each_comes_as_it_was_left(world: World, tmp_path: Path) -> None:
    shown = await profiled(world, tmp_path)
    get, run_id = world.services.artifacts.get, shown.runs[0].id
    contents = [(await get(world.ada.user, shown.id, run_id, name))[1] for name in NAMES]
    assert [b"<svg>", b"<script>", b"\x1f\x8b", b"a table"] == contents


async def test_a_submission_shows_texts_and_names_the_rest(world: World, tmp_path: Path) -> None:
    shown = await profiled(world, tmp_path)
    result = shown.runs[0].result
    assert result is not None
    found = {item.name: item.content_base64 for item in result.artifacts}
    assert set(NAMES) == set(found)
    assert {"profile.0.txt"} == {name for name, content in found.items() if content}
    whole = await world.services.submissions.get(world.ada.user, shown.id, files=True)
    assert whole.runs[0].result is not None
    assert all(item.content_base64 for item in whole.runs[0].result.artifacts)


async def test_another_s_files_are_not_shown(world: World, tmp_path: Path) -> None:
    shown = await profiled(world, tmp_path)
    with pytest.raises(NotAllowed):
        await world.services.artifacts.list_artifacts(world.bob.user, shown.id)
    with pytest.raises(NotAllowed):
        await world.services.artifacts.get(
            world.bob.user, shown.id, shown.runs[0].id, "profile.0.txt"
        )


async def test_a_file_is_found_under_its_own_submission_and_run_only(
    world: World, tmp_path: Path
) -> None:
    shown = await profiled(world, tmp_path)
    other = await world.submit(world.bob.user, mode=Mode.TEST)
    run_id = shown.runs[0].id
    for submission_id, run, name in (
        (other.id, run_id, "profile.0.txt"),
        (shown.id, run_id + 1, "profile.0.txt"),
        (shown.id, run_id, "profile.1.txt"),
        (2**63, run_id, "profile.0.txt"),
    ):
        with pytest.raises(NotFound):
            await world.services.artifacts.get(world.admin.user, submission_id, run, name)


async def test_files_of_secret_runs_are_for_organisers(world: World, tmp_path: Path) -> None:
    shown = await profiled(world, tmp_path)
    async with world.database.write() as session:
        await session.do(
            "UPDATE runs SET secret = true WHERE id = %(id)s", {"id": shown.runs[0].id}
        )
    assert [] == await world.services.artifacts.list_artifacts(world.ada.user, shown.id)
    with pytest.raises(NotFound):
        await world.services.artifacts.get(
            world.ada.user, shown.id, shown.runs[0].id, "profile.0.txt"
        )
    assert 4 == len(await world.services.artifacts.list_artifacts(world.admin.user, shown.id))
