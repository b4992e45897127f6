import asyncio
import csv
import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from kernelbot.accounts.model import Role
from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import Conflict, NotAllowed, NotFound, Unavailable, UserError
from kernelbot.platform.exports import store as store_exports
from kernelbot.platform.exports.card import files_of
from kernelbot.platform.exports.model import ExportChoice, Exported, ExportFormat, ExportRules
from kernelbot.platform.exports.pseudonyms import pseudonym
from kernelbot.platform.exports.service import Exports
from tests.fakes.hub import TOKEN, Dataset, FakeHub, fake_hub
from tests.support.problems import sort_problem
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None
    or importlib.util.find_spec("huggingface_hub") is None,
    reason="exports are an extra: pyarrow and huggingface_hub aren't installed",
)

SORT = ExportChoice(names=("sort",))
LONG_AGO = BoardEdit(deadline=datetime(2020, 1, 1, tzinfo=UTC))


def rows(file: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet

    found: list[dict[str, Any]] = pyarrow.parquet.read_table(file).to_pylist()
    return found


def rules(hub: FakeHub, token: str = TOKEN, repository: str = "lab/kernels") -> ExportRules:
    return ExportRules("a key of sixteen", token, repository, hub.url)


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with fake_hub() as running:
        yield running


async def test_a_submission_with_its_code_and_runs(world: World, tmp_path: Path) -> None:
    await world.board()
    code = b"# fake: accepted 0.5 0.4 0.6\n"
    async with working(quick_settings(tmp_path), world.database.url):
        sent = await finished(world, (await world.submit(content=code)).id)
    done = await world.services.exports.to_file(world.admin.user, SORT, tmp_path / "x.parquet")
    row = rows(tmp_path / "x.parquet")[0]
    assert (1, "sort", "sort", "leaderboard", code.decode(), sent.created_at) == (
        done.submissions,
        row["board"],
        row["problem"],
        row["mode"],
        row["code"],
        row["created_at"],
    )
    runs = [(run["device"], run["mode"], run["secret"], run["score_s"]) for run in row["runs"]]
    assert [("CPU", "leaderboard", False, None), ("CPU", "leaderboard", True, 0.5)] == runs
    assert all(run["started_at"] <= run["finished_at"] for run in row["runs"])


async def test_authors_are_the_same_stranger_everywhere(world: World, tmp_path: Path) -> None:
    await world.board("sort")
    await world.board("other")
    for board in ("sort", "other"):
        await world.submit(board=board)
        await world.submit(world.bob.user, board=board)
    await world.services.exports.to_file(world.admin.user, ExportChoice(), tmp_path / "x.parquet")
    found = rows(tmp_path / "x.parquet")
    authors = [row["author"] for row in found]
    assert authors[:2] == authors[2:]
    assert 2 == len(set(authors))
    assert not {"ada", "bob", "fast.py"} & {str(value) for row in found for value in row.values()}


async def test_another_key_makes_other_pseudonyms(world: World, tmp_path: Path) -> None:
    await world.board()
    await world.submit()
    authors = set()
    for key in ("a key of sixteen", "another of sixteen"):
        exports = Exports(world.database, ExportRules(key))
        await exports.to_file(world.admin.user, SORT, tmp_path / "x.parquet")
        authors.add(rows(tmp_path / "x.parquet")[0]["author"])
    expected = {
        pseudonym(key, "user", world.ada.user.id)
        for key in (b"a key of sixteen", b"another of sixteen")
    }
    assert expected == authors


async def test_the_databases_own_key_stays(world: World, tmp_path: Path) -> None:
    await world.board()
    await world.submit()
    authors = set()
    for _ in range(2):
        await Exports(world.database).to_file(world.admin.user, SORT, tmp_path / "x.parquet")
        authors.add(rows(tmp_path / "x.parquet")[0]["author"])
    assert 1 == len(authors)


async def test_a_board_without_submissions_is_an_empty_table(world: World, tmp_path: Path) -> None:
    await world.board()
    done = await world.services.exports.to_file(world.admin.user, SORT, tmp_path / "x.parquet")
    assert (0, []) == (done.submissions, rows(tmp_path / "x.parquet"))


@pytest.mark.parametrize(
    "choice", [ExportChoice(names=("none",)), ExportChoice(ids=(2**80,)), ExportChoice(("\x00",))]
)
async def test_a_board_that_is_not_there(
    world: World, tmp_path: Path, choice: ExportChoice
) -> None:
    with pytest.raises(NotFound):
        await world.services.exports.to_file(world.admin.user, choice, tmp_path / "x")


async def test_only_organisers_export(world: World, tmp_path: Path) -> None:
    await world.board()
    for choice in (SORT, ExportChoice()):
        with pytest.raises(NotAllowed):
            await world.services.exports.to_file(world.ada.user, choice, tmp_path / "x")


async def test_an_upload_is_private(world: World, tmp_path: Path, hub: FakeHub) -> None:
    await world.board()
    await world.submit()
    done = await Exports(world.database, rules(hub)).to_hub(world.admin.user, SORT, "x.parquet")
    dataset = hub.datasets["lab/kernels"]
    (tmp_path / "x").write_bytes(dataset.files["x.parquet"])
    assert (True, 1, 1) == (dataset.private, done.submissions, len(rows(tmp_path / "x")))


@pytest.mark.exhaustive  # each run has test_a_board_without_submissions_is_an_empty_table
async def test_a_creator_overwrites_nobodys_file(world: World, hub: FakeHub) -> None:
    carl = (await world.services.users.create("carl", Role.CREATOR)).user
    await world.board()
    await world.services.boards.create(carl, sort_problem("own"), name="own", devices=("CPU",))
    exports = Exports(world.database, rules(hub))
    await exports.daily(world.admin.user)
    await exports.to_hub(carl, ExportChoice(names=("own",)), "submissions.parquet")
    assert {"README.md", "submissions.parquet", f"creator-{carl.id}/submissions.parquet"} == set(
        hub.datasets["lab/kernels"].files
    )


@pytest.mark.exhaustive  # each run has test_a_submission_with_its_code_and_runs
async def test_a_dataset_has_a_card_of_all_its_files(world: World, hub: FakeHub) -> None:
    await world.board()
    await world.submit()
    other = (await world.services.users.create("carl", Role.CREATOR)).user
    await world.services.boards.create(other, sort_problem("own"), name="own", devices=("CPU",))
    exports = Exports(world.database, rules(hub))
    await exports.to_hub(world.admin.user, SORT, "x.parquet")
    await exports.to_hub(other, ExportChoice(names=("own",)), "y.parquet")
    card = hub.datasets["lab/kernels"].files["README.md"].decode()
    front = yaml.safe_load(card.split("---\n")[1])
    theirs = f"creator-{other.id}/y.parquet"
    assert ("other", [theirs, "x.parquet"]) == (
        front["license"],
        [one["data_files"][0]["path"] for one in front["configs"]],
    )
    assert {"x.parquet": (("sort",), 1), theirs: (("own",), 0)} == {
        path: (file.boards, file.submissions) for path, file in files_of(card).items()
    }
    assert 'datasets.load_dataset("lab/kernels", ' in card


async def test_a_licence_that_the_hub_does_not_know_is_said(world: World, hub: FakeHub) -> None:
    await world.board()
    exports = Exports(world.database, replace(rules(hub), license="mine"))
    with pytest.raises(UserError, match="license"):
        await exports.to_hub(world.admin.user, SORT, "x.parquet")


async def test_nothing_is_public_while_a_board_is_open(world: World, hub: FakeHub) -> None:
    await world.board()
    exports = Exports(world.database, rules(hub))
    with pytest.raises(Conflict, match="still open"):
        await exports.to_hub(world.admin.user, SORT, "x.parquet", private=False)
    assert {} == hub.datasets


async def test_what_is_over_may_be_public(world: World, hub: FakeHub) -> None:
    await world.board()
    await world.services.boards.edit(world.admin.user, "sort", LONG_AGO)
    exports = Exports(world.database, rules(hub))
    await exports.to_hub(world.admin.user, SORT, "x.parquet", private=False)
    assert not hub.datasets["lab/kernels"].private


async def test_closed_boards_are_never_public(world: World, hub: FakeHub) -> None:
    await world.board()
    edit = BoardEdit(Visibility.CLOSED, LONG_AGO.deadline)
    await world.services.boards.edit(world.admin.user, "sort", edit)
    exports = Exports(world.database, rules(hub))
    with pytest.raises(Conflict, match="members"):
        await exports.to_hub(world.admin.user, SORT, "x.parquet", private=False)


async def test_nothing_private_goes_into_a_public_dataset(world: World, hub: FakeHub) -> None:
    await world.board()
    hub.datasets["lab/kernels"] = Dataset(private=False)
    with pytest.raises(Conflict, match="public"):
        await Exports(world.database, rules(hub)).to_hub(world.admin.user, SORT, "x.parquet")
    assert {} == hub.datasets["lab/kernels"].files


@pytest.mark.parametrize(
    "name", ["x", "x.csv", "../x.parquet", "a/b.parquet", ".parquet", "é.parquet"]
)
async def test_names_that_no_export_has(world: World, hub: FakeHub, name: str) -> None:
    await world.board()
    with pytest.raises(UserError):
        await Exports(world.database, rules(hub)).to_hub(world.admin.user, SORT, name)


async def test_without_a_token_nothing_is_uploaded(world: World) -> None:
    await world.board()
    with pytest.raises(UserError, match="No dataset"):
        await world.services.exports.to_hub(world.admin.user, SORT, "x.parquet")


async def test_a_wrong_token_is_reported(world: World, hub: FakeHub) -> None:
    await world.board()
    with pytest.raises(Unavailable):
        await Exports(world.database, rules(hub, "hf_wrong")).to_hub(
            world.admin.user, SORT, "x.parquet"
        )


@pytest.mark.exhaustive  # each run has test_a_board_without_submissions_is_an_empty_table
async def test_a_clock_put_back_holds_up_no_days_export(world: World, hub: FakeHub) -> None:
    await world.board()
    exports = Exports(world.database, rules(hub))
    await exports.daily(world.admin.user)
    with psycopg.connect(world.database.url) as connection:
        connection.execute("UPDATE exports SET daily_at = now() + interval '1 year'")
    assert await exports.daily(world.admin.user) is not None


@pytest.mark.exhaustive  # each run has test_a_board_without_submissions_is_an_empty_table
async def test_once_a_day_and_once_among_all(world: World, hub: FakeHub) -> None:
    await world.board()
    exports = Exports(world.database, rules(hub))
    first, second = await exports.daily(world.admin.user), await exports.daily(world.admin.user)
    assert first is not None
    assert (None, ["submissions.parquet", "README.md"]) == (
        second,
        list(hub.datasets["lab/kernels"].files),
    )


@pytest.mark.exhaustive  # each run has test_a_board_without_submissions_is_an_empty_table
async def test_a_failed_day_is_tried_again_in_an_hour(world: World, hub: FakeHub) -> None:
    await world.board()
    exports = Exports(world.database, rules(hub, "hf_wrong"))
    with pytest.raises(Unavailable):
        await exports.daily(world.admin.user)
    soon = await exports.daily(world.admin.user)
    await _later(world, "61 minutes")
    later = await Exports(world.database, rules(hub)).daily(world.admin.user)
    assert (True, True) == (soon is None, later is not None)


@pytest.mark.exhaustive  # each run has test_a_board_without_submissions_is_an_empty_table
async def test_a_day_whose_worker_was_killed_is_made_up_for(world: World, hub: FakeHub) -> None:
    await world.board()
    exports = Exports(world.database, rules(hub))
    async with world.database.write() as session:  # as `daily` does, before it is killed
        await store_exports.key(session)
        claimed = await store_exports.claim_daily(session)
    soon = await exports.daily(world.admin.user)
    await _later(world, "181 minutes")
    later = await exports.daily(world.admin.user)
    assert (True, True, True) == (claimed, soon is None, later is not None)


async def test_what_is_done_is_due_in_a_day(world: World, hub: FakeHub) -> None:
    await world.board()
    exports = Exports(world.database, rules(hub))
    await exports.daily(world.admin.user)
    await _later(world, "23 hours")
    same_day = await exports.daily(world.admin.user)
    await _later(world, "61 minutes")
    assert (True, True) == (same_day is None, await exports.daily(world.admin.user) is not None)


async def _later(world: World, interval: str) -> None:
    """Let time pass for what is due each day."""
    with psycopg.connect(world.database.url) as connection:
        connection.execute("UPDATE exports SET daily_at = daily_at - %s::interval", [interval])


async def test_many_exports_leave_connections_for_others(world: World, tmp_path: Path) -> None:
    await world.board()
    await world.submit()
    with psycopg.connect(world.database.url) as connection:
        connection.execute("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE")
        tasks = [
            asyncio.create_task(
                world.services.exports.to_file(world.admin.user, SORT, tmp_path / str(number))
            )
            for number in range(12)
        ]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for _ in range(3):
            assert world.ada.user == await world.services.users.authenticate(world.ada.token)
        connection.rollback()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert 10 == sum(isinstance(one, Exported) for one in done)
    assert 2 == sum(isinstance(one, Unavailable) for one in done)


async def test_an_export_continues_after_a_batch(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_exports, "_BATCH", 2)
    await world.board()
    ids = [(await world.submit()).id for _ in range(5)]
    done = await world.services.exports.to_file(world.admin.user, SORT, tmp_path / "x.parquet")
    key = await _key(world)
    expected = [pseudonym(key, "submission", number) for number in ids]
    assert (5, expected) == (
        done.submissions,
        [row["submission"] for row in rows(tmp_path / "x.parquet")],
    )


async def _key(world: World) -> bytes:
    async with world.database.write() as session:
        return await store_exports.key(session)


async def test_csv_has_a_line_for_each_run_and_no_formula(world: World, tmp_path: Path) -> None:
    await world.board()
    formula = (await world.services.users.create("=1+1")).user
    await world.submit(formula, file_name="=cmd.py")
    with psycopg.connect(world.database.url) as connection:
        connection.execute("UPDATE problems SET name = '=HYPERLINK(0)'")
    file = tmp_path / "x.csv"
    done = await world.services.exports.to_file(world.admin.user, SORT, file, ExportFormat.CSV)
    with file.open(newline="") as opened:
        found = list(csv.DictReader(opened))
    stranger = pseudonym(await _key(world), "user", formula.id)
    shown = [tuple(row[name] for name in ("problem", "secret", "author")) for row in found]
    expected = [("'=HYPERLINK(0)", secret, stranger) for secret in ("False", "True")]
    assert (1, expected) == (done.submissions, shown)


async def test_how_a_secret_run_failed_stays_secret(world: World, tmp_path: Path) -> None:
    await world.board()
    await world.submit()
    with psycopg.connect(world.database.url) as connection:
        connection.execute("UPDATE runs SET state = 'dispatched'")
        connection.execute(
            "UPDATE runs SET state = 'finished', finished_at = now(), verdict = 'memory_limit',"
            " fault = 'author', message = 'too much'"
        )
    file = tmp_path / "x.csv"
    await world.services.exports.to_file(world.admin.user, SORT, file, ExportFormat.CSV)
    with file.open(newline="") as opened:
        told = {row["secret"]: row["verdict"] for row in csv.DictReader(opened)}
    assert {"False": "memory_limit", "True": "wrong_answer"} == told


async def test_csv_continues_after_a_batch(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_exports, "_BATCH", 2)
    await world.board()
    for _ in range(5):
        await world.submit()
    file = tmp_path / "x.csv"
    await world.services.exports.to_file(world.admin.user, SORT, file, ExportFormat.CSV)
    assert 1 + 2 * 5 == len(file.read_text().splitlines())
