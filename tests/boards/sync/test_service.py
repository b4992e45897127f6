import asyncio
import hashlib
import io
import socket
import tarfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.boards.sync.model import SyncAction, SyncOptions
from kernelbot.boards.sync.service import Sync
from kernelbot.domain.errors import Conflict, InvalidProblem, NotAllowed, NotFound, UserError
from kernelbot.protocol import Verdict
from kernelbot.store.exclusive import only_one
from kernelbot.store.locks import Lock
from tests.support.exhaustive import few
from tests.support.git_server import PASSWORD, git_server
from tests.support.postgres import WAITS_FOR_A_LOCK, slow_statements, until_there_is
from tests.support.problem_sets import commit_all, write_competition, write_problem
from tests.support.workers import finished, quick_settings, working
from tests.support.world import DEVICES, World

PASSES = b"# fake: accepted 1 1 1\n"
DRY = SyncOptions(dry_run=True)
FORCE = SyncOptions(force=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two problems and a competition over them."""
    folder = tmp_path / "problems"
    for name in ("one", "two"):
        write_problem(folder, name)
    write_competition(folder, "one", "two")
    return folder


async def synced(world: World, root: Path, options: SyncOptions | None = None) -> dict[str, str]:
    """What happened to each board."""
    outcome = await world.services.sync.from_folder(world.admin.user, root, options)
    return {item.board: item.action.value for item in outcome.items}


async def reasons(world: World, root: Path, options: SyncOptions | None = None) -> dict[str, str]:
    outcome = await world.services.sync.from_folder(world.admin.user, root, options)
    return {item.board: item.reason for item in outcome.items}


async def test_boards_are_created(world: World, root: Path) -> None:
    write_competition(root, "one", "two", deadline="2031-03-15 01:00", more="reveal_code: true")
    happened = await synced(world, root, SyncOptions(visibility=Visibility.CLOSED))
    board = await world.services.boards.get(world.admin.user, "one")
    assert {"one": "create", "two": "create"} == happened
    assert (("CPU",), Visibility.CLOSED, True) == (
        board.devices,
        board.visibility,
        board.reveal_code,
    )
    assert datetime(2031, 3, 15, 1, tzinfo=UTC) == board.deadline


async def test_a_competition_says_that_secret_runs_share_a_seed(world: World, root: Path) -> None:
    await synced(world, root)
    write_competition(root, "one", "two", more="fixed_seed: true")
    assert {"one": "the secret seeds", "two": "the secret seeds"} == await reasons(world, root)
    assert (await world.services.boards.get(world.admin.user, "one")).fixed_seed


async def test_what_is_unchanged_is_skipped(world: World, root: Path) -> None:
    await synced(world, root)
    assert {"one": "unchanged", "two": "unchanged"} == await reasons(world, root)


async def test_a_dry_run_changes_nothing(world: World, root: Path) -> None:
    outcome = await world.services.sync.from_folder(world.admin.user, root, DRY)
    assert (False, 2) == (outcome.applied, len(outcome.with_action(SyncAction.CREATE)))
    assert [] == await world.services.boards.list_boards(world.admin.user)


Change = Callable[[Path], None]


def _test(root: Path) -> None:
    write_problem(root, "one", size=11)


def _file(root: Path) -> None:
    with (root / "one" / "reference.py").open("a") as file:
        file.write("# more\n")


def _devices(root: Path) -> None:
    write_competition(root, "one", "two", gpus="[CPU, H100]")


def _text(root: Path) -> None:
    write_problem(root, "one", description="Sort it, please.")


@pytest.mark.parametrize(
    ("change", "stays"), few([(_file, 0), (_devices, 1), (_test, 0), (_text, 1)], 2)
)
async def test_scores_stay_with_the_version_they_were_measured_on(
    world: World, root: Path, tmp_path: Path, change: Change, stays: int
) -> None:
    await synced(world, root)
    before = await world.services.boards.get(None, "one")
    async with working(quick_settings(tmp_path), world.database.url):
        sent = await world.submit(board="one", content=PASSES)
        await finished(world, sent.id)
    change(root)
    happened = await synced(world, root)
    after = await world.services.boards.get(None, "one")
    page = await world.services.standings.page(None, "one", "CPU")
    kept = await world.services.submissions.get(world.ada.user, sent.id)
    assert ("update", True) == (
        happened["one"],
        before.problem_version_id != after.problem_version_id,
    )
    assert (stays, 1.0) == (page.total, kept.score_s)


@pytest.mark.exhaustive  # each run has test_scores_stay_with_the_version_they_were_measured_on
async def test_a_plan_says_how_many_scores_leave_and_what_to_run(
    world: World, root: Path, tmp_path: Path
) -> None:
    await synced(world, root)
    async with working(quick_settings(tmp_path), world.database.url):
        sent = await world.submit(board="one", content=PASSES)
        await finished(world, sent.id)
    _test(root)
    planned = await reasons(world, root, DRY)
    assert (
        "a new version of the problem (1 score leaves the ranking; to measure the best again on "
        "it, afterwards: kernelbot board rejudge one --device CPU)"
    ) == planned["one"]


@pytest.mark.exhaustive  # each run has test_scores_stay_with_the_version_they_were_measured_on
async def test_a_board_says_how_many_scores_are_outdated_until_they_are_measured_again(
    world: World, root: Path, tmp_path: Path
) -> None:
    async def outdated() -> int:
        return (await world.services.boards.get(None, "one")).outdated_scores

    await synced(world, root)
    async with working(quick_settings(tmp_path), world.database.url):
        for author in (world.ada.user, world.bob.user):
            sent = await world.submit(author, board="one", content=PASSES)
            await finished(world, sent.id)
        before = await outdated()
        _test(root)
        await synced(world, root)
        after = await outdated()
        await finished(world, (await world.submit(board="one", content=PASSES + b"#2")).id)
        one_came_back = await outdated()
        rejudge = await world.services.rejudging.start(world.admin.user, "one")
        while rejudge.finished_at is None:
            await asyncio.sleep(0.05)
            rejudge = await world.services.rejudging.get(world.admin.user, "one", rejudge.id)
    assert (0, 2, 1, 0) == (before, after, one_came_back, await outdated())


@pytest.mark.exhaustive  # each run has test_scores_stay_with_the_version_they_were_measured_on
async def test_going_back_brings_the_scores_back(world: World, root: Path, tmp_path: Path) -> None:
    await synced(world, root)
    async with working(quick_settings(tmp_path), world.database.url):
        await finished(world, (await world.submit(board="one", content=PASSES)).id)
    write_problem(root, "one", size=11)
    await synced(world, root)
    write_problem(root, "one")
    await synced(world, root)
    assert 1 == (await world.services.standings.page(None, "one", "CPU")).total


@pytest.mark.exhaustive  # each run has test_scores_stay_with_the_version_they_were_measured_on
async def test_a_problem_that_changes_while_a_submission_runs(
    world: World, root: Path, tmp_path: Path
) -> None:
    await synced(world, root)
    sent = await world.submit(board="one", content=PASSES)
    write_problem(root, "one", size=11)
    write_competition(root, "one", "two", gpus="[H100]")
    await synced(world, root)
    async with working(quick_settings(tmp_path), world.database.url):
        done = await finished(world, sent.id)
    page = await world.services.standings.page(None, "one", "H100")
    assert (Verdict.ACCEPTED, None, 0) == (done.verdict, done.place, page.total)


async def test_a_mistake_in_one_problem_leaves_the_others(world: World, root: Path) -> None:
    (root / "two" / "reference.py").unlink()
    outcome = await world.services.sync.from_folder(world.admin.user, root)
    assert {"one": "create", "two": "error"} == {i.board: i.action for i in outcome.items}
    assert "reference.py" in outcome.items[1].reason
    assert str(root) not in outcome.items[1].reason


async def test_a_mistake_in_a_competition_names_the_file(world: World, root: Path) -> None:
    write_competition(root, "one", file="bad.yaml", deadline="tomorrow")
    outcome = await world.services.sync.from_folder(world.admin.user, root)
    happened = {item.board: item.action.value for item in outcome.items}
    assert {"bad.yaml": "error", "one": "create", "two": "create"} == happened
    assert [] == [item.reason for item in outcome.items if str(root) in item.reason]
    assert "deadline" in outcome.items[0].reason


async def test_a_board_is_listed_once(world: World, root: Path) -> None:
    write_problem(root, "three")
    write_competition(root, "one", "three", file="winter.yaml")
    outcome = await world.services.sync.from_folder(world.admin.user, root)
    assert [
        ("one", SyncAction.CREATE, "on CPU"),
        ("two", SyncAction.CREATE, "on CPU"),
        ("one", SyncAction.ERROR, "spring.yaml lists a board of that name too"),
        ("three", SyncAction.CREATE, "on CPU"),
    ] == [(item.board, item.action, item.reason) for item in outcome.items]


async def test_only_one_competition(world: World, root: Path) -> None:
    write_problem(root, "three")
    write_competition(root, "three", file="winter.yaml")
    assert {"three": "create"} == await synced(world, root, SyncOptions(problem_set="winter"))


async def test_a_board_made_by_hand_is_taken_over_by_force(world: World, root: Path) -> None:
    await world.board("one")
    first, second = await synced(world, root), await synced(world, root, FORCE)
    assert ("skip", "update") == (first["one"], second["one"])


async def test_what_is_over_changes_by_force_only(world: World, root: Path) -> None:
    write_competition(root, "one", "two", deadline="2020-01-01")
    await synced(world, root)
    write_problem(root, "one", size=11)
    first, second = await synced(world, root), await synced(world, root, FORCE)
    assert ("skip", "update") == (first["one"], second["one"])


async def test_a_new_deadline_reopens_a_board(world: World, root: Path) -> None:
    write_competition(root, "one", "two", deadline="2020-01-01")
    await synced(world, root)
    write_competition(root, "one", "two", deadline="2031-01-01")
    assert {"one": "update", "two": "update"} == await synced(world, root)


async def test_a_deadline_that_is_moved_is_named_as_it_was_and_will_be(
    world: World, root: Path
) -> None:
    await synced(world, root)
    by_hand = BoardEdit(deadline=datetime(2031, 5, 6, 7, 8, tzinfo=UTC))
    await world.services.boards.edit(world.admin.user, "one", by_hand)
    assert "the deadline: 2031-05-06 07:08 UTC -> none" == (await reasons(world, root, DRY))["one"]
    await synced(world, root)
    assert ["the deadline: 2031-05-06 07:08 UTC -> none"] == [
        entry.detail["changed"]
        for entry in await world.services.audit.list_entries(world.admin.user)
        if (entry.action, entry.subject) == ("board.sync", "board:one")
    ]


async def test_a_board_that_is_no_longer_listed_stays_and_is_reported(
    world: World, root: Path
) -> None:
    await world.board("by-hand")
    await synced(world, root)
    write_competition(root, "one")
    found = await reasons(world, root, DRY)
    assert {"one": "unchanged", "two": "not listed any more"} == {
        board: reason.split(";")[0] for board, reason in found.items()
    }
    assert "two" == (await world.services.boards.get(None, "two")).name


async def test_other_competitions_boards_are_not_reported(world: World, root: Path) -> None:
    write_problem(root, "three")
    write_competition(root, "three", file="winter.yaml")
    winter = root / "winter.yaml"
    winter.write_text(winter.read_text().replace("Spring", "Winter"))
    await synced(world, root)
    winter.unlink()
    assert {"one": "unchanged", "two": "unchanged"} == await reasons(world, root)


async def test_a_plan_says_what_becomes_of_a_device_that_goes(world: World, root: Path) -> None:
    write_competition(root, "one", gpus="[CPU, H100]")
    await synced(world, root)
    write_competition(root, "one", gpus="[CPU]")
    planned = await reasons(world, root, DRY)
    assert (
        "devices: CPU (no longer H100: the scores there leave the ranking, and come back with "
        "rejudges and duels once a sync offers it again)" in planned["one"]
    )


async def test_devices_that_are_not_here_are_skipped(world: World, root: Path) -> None:
    write_competition(root, "one", gpus="[B200]")
    found = await reasons(world, root)
    assert {"one": "none of its devices is configured here (B200)"} == found


@pytest.mark.parametrize("name", ["a b", "ü", "a'; echo x", "-x"])
async def test_names_that_no_board_can_have(world: World, root: Path, name: str) -> None:
    text = f'name: x\nproblems:\n  - {{directory: one, name: "{name}", gpus: [CPU]}}\n'
    (root / "spring.yaml").write_text(text)
    assert {name: "error"} == await synced(world, root)


async def test_a_folder_without_competitions(world: World, tmp_path: Path) -> None:
    with pytest.raises(InvalidProblem, match="no competition file"):
        await world.services.sync.from_folder(world.admin.user, tmp_path)


async def test_a_branch_of_a_repository(world: World, root: Path) -> None:
    commit = commit_all(root)
    outcome = await world.services.sync.from_repository(world.admin.user, f"file://{root}", "main")
    assert (commit, True, 2) == (outcome.commit, outcome.applied, len(outcome.items))


async def test_git_ends_when_nobody_waits_for_the_sync_any_more(world: World) -> None:
    """It would hold up the end of the server: threads are waited for."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/x.git"
        syncing = asyncio.create_task(
            world.services.sync.from_repository(world.admin.user, address)
        )
        connection, _ = await asyncio.to_thread(silent.accept)
        syncing.cancel()
        with connection:
            connection.settimeout(60)
            while await asyncio.to_thread(connection.recv, 1 << 16):
                pass
    with pytest.raises(asyncio.CancelledError):
        await syncing


async def test_a_repository_that_is_gone_changes_nothing(world: World, root: Path) -> None:
    await synced(world, root)
    with pytest.raises(UserError):
        await world.services.sync.from_repository(world.admin.user, f"file://{root}/none")
    assert 2 == len(await world.services.boards.list_boards(None))


async def test_without_a_repository_there_must_be_a_default(world: World) -> None:
    with pytest.raises(UserError, match="No repository"):
        await world.services.sync.from_repository(world.admin.user)


async def test_an_archive(
    world: World, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        tar.add(root, arcname="kernels-main")
    outcome = await world.services.sync.from_archive(world.admin.user, packed, "x.tar.gz")
    assert ["one", "two"] == [item.board for item in outcome.with_action(SyncAction.CREATE)]
    assert hashlib.sha256(packed.getvalue()).hexdigest() == outcome.archive
    assert [root] == await asyncio.to_thread(lambda: list(tmp_path.iterdir()))


async def test_a_link_out_of_the_folder_is_not_followed(
    world: World, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.py").write_text("x")
    (root / "two" / "reference.py").unlink()
    (root / "two" / "reference.py").symlink_to(tmp_path / "secret.py")
    found = await reasons(world, root)
    assert found["two"].endswith("`reference.py` leaves the checkout")


async def test_only_admins_sync(world: World, root: Path) -> None:
    sync, ada = world.services.sync, world.ada.user
    for syncing in (
        sync.from_folder(ada, root),
        sync.from_repository(ada),
        sync.from_archive(ada, io.BytesIO(b""), "x.zip"),
    ):
        with pytest.raises(NotAllowed):
            await syncing


async def test_another_archive_than_that_of_the_plan_is_refused(world: World) -> None:
    planned = SyncOptions(archive="0" * 64)
    with pytest.raises(Conflict, match=r"^This isn't the archive that the plan was made of"):
        await world.services.sync.from_archive(
            world.admin.user, io.BytesIO(b"another"), "x.zip", planned
        )


async def test_the_configured_repository_is_shown_without_its_password(world: World) -> None:
    configured = Sync(world.database, DEVICES, "https://ada:word@example.org/x.git")
    shown = (configured.default, Sync(world.database, DEVICES).default)
    assert ("https://example.org/x.git", None) == shown


async def test_a_sync_may_take_as_long_as_it_does(world: World, root: Path) -> None:
    with slow_statements(world.database.url, "leaderboards") as seen:
        await world.board("by-hand")
        await synced(world, root)
        assert ["1min", "1h", "1h"] == seen()


async def test_what_was_synced_is_in_the_log(world: World, root: Path) -> None:
    await synced(world, root)
    log = await world.services.audit.list_entries(world.admin.user)
    assert [
        ("problems.sync", str(root), 2),
        ("board.create", "board:two", None),
        ("board.create", "board:one", None),
    ] == [(one.action, one.subject, one.detail.get("create")) for one in log]


async def test_a_board_that_somebody_makes_meanwhile_is_a_conflict(
    world: World, root: Path
) -> None:
    await world.board("by-hand")
    with psycopg.connect(world.database.url) as other:
        other.execute(
            "INSERT INTO leaderboards (name, description, problem_version_id, creator_id,"
            " visibility, secret)"
            " SELECT 'two', '', id, %s, 'public', sha256('x') FROM problem_versions LIMIT 1",
            (world.admin.user.id,),
        )
        syncing = asyncio.create_task(synced(world, root))
        async with world.database.read() as session:
            await until_there_is(session, WAITS_FOR_A_LOCK)
    with pytest.raises(Conflict, match="A board named 'two' was made meanwhile"):
        await syncing


async def test_when_the_last_step_fails_nothing_was_done(world: World, root: Path) -> None:
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        connection.execute(
            "ALTER TABLE leaderboards ADD CONSTRAINT test CHECK (lower(name) <> 'two')"
        )
    with pytest.raises(psycopg.errors.CheckViolation):
        await world.services.sync.from_folder(world.admin.user, root)
    with pytest.raises(NotFound):
        await world.services.boards.get(None, "one")


async def test_a_repositorys_password_is_neither_answered_nor_recorded(
    world: World, root: Path
) -> None:
    commit_all(root)
    with git_server(root.parent) as server:
        host = f"127.0.0.1:{server.server_port}/{root.name}/.git"
        address = f"http://ada:{quote(PASSWORD)}@{host}"
        outcome = await world.services.sync.from_repository(world.admin.user, address)
    entries = await world.services.audit.list_entries(world.admin.user, action="problems.sync")
    assert (f"http://{host}", [f"http://{host}"]) == (
        outcome.source,
        [entry.subject for entry in entries],
    )


async def test_while_another_sync_runs_it_says_so(world: World, root: Path) -> None:
    sync = Sync(world.database, DEVICES)
    with psycopg.connect(world.database.url) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", (Lock.SYNC.value,))
        with pytest.raises(Conflict, match="Another sync is running"):
            await sync.from_folder(world.admin.user, root)
    assert (await sync.from_folder(world.admin.user, root)).applied


async def test_a_running_bot_keeps_no_sync_from_its_end(world: World, root: Path) -> None:
    async with only_one(world.database.url, Lock.BOT, lambda: None):
        assert {"one": "create", "two": "create"} == await synced(world, root)


async def test_only_the_plan_that_was_agreed_to_is_done(world: World, root: Path) -> None:
    plan = await world.services.sync.from_folder(world.admin.user, root, DRY)
    write_problem(root, "two", size=20)
    agreed = SyncOptions(plan=plan.digest)
    await world.board("one")
    with pytest.raises(Conflict, match="Something has changed since the plan"):
        await world.services.sync.from_folder(world.admin.user, root, agreed)
    names = [board.name for board in await world.services.boards.list_boards(None)]
    assert ["one"] == names


async def test_an_agreed_plan_is_done(world: World, root: Path) -> None:
    plan = await world.services.sync.from_folder(world.admin.user, root, DRY)
    done = await world.services.sync.from_folder(
        world.admin.user, root, SyncOptions(plan=plan.digest)
    )
    assert (True, plan.items) == (done.applied, done.items)
