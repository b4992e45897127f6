"""The commands about what was judged, against a real server."""

import csv
import importlib.util
import io
from pathlib import Path

import pytest

from tests.support.live import LiveServer
from tests.support.terminal import Shell
from tests.support.workers import finished, quick_settings, working

pytestmark = pytest.mark.each_run(
    "test_a_rejudge_is_begun_once",
    "test_standings_and_exports_as_csv",
)


@pytest.fixture
def judged(live: LiveServer, tmp_path: Path) -> tuple[int, int]:
    """A ranked submission of ada's, and one of bob's that is held."""

    async def judge() -> tuple[int, int]:
        world = live.world
        await world.board()
        numbers = []
        async with working(quick_settings(tmp_path / "data"), world.database.url):
            for author, score_s in ((world.ada.user, 1.0), (world.bob.user, 0.01)):
                sent = await world.submit(author, content=f"# fake: accepted {score_s}\n".encode())
                await finished(world, sent.id)
                numbers.append(sent.id)
        return numbers[0], numbers[1]

    return live.call(judge())


def test_what_is_held_is_listed_refused_and_released(admin: Shell, judged: tuple[int, int]) -> None:
    _, number = judged
    held = admin("submission", "held")
    refused = admin("submission", "refuse", str(number), "--reason", "copied", "--json")
    released = admin("submission", "release", str(number), "--reason", "it is their own")
    nothing = admin("submission", "held", "--json")
    assert (0, True) == (held.code, "ABSURD_SPEEDUP" in held.out and "bob" in held.out)
    assert "refused" == refused.document["review"]
    assert f"Submission {number} may be ranked now at place 1.\n" == released.out
    assert [] == nothing.document["submissions"]


def test_a_competitor_decides_nothing(ada: Shell, judged: tuple[int, int]) -> None:
    said = ada("submission", "release", str(judged[1]), "--reason", "please", "--json")
    assert (2, "not_allowed") == (said.code, said.document["error"]["code"])


def test_samples_are_downloaded(ada: Shell, judged: tuple[int, int]) -> None:
    overview = ada("submission", "samples", str(judged[0]))
    rows = list(csv.DictReader(io.StringIO(ada("submission", "samples", "1", "--csv").out)))
    loads = ada("submission", "samples", str(judged[0]), "--json").document["workloads"]
    assert (0, [("True", "1000000000.0")] * 3) == (
        overview.code,
        [(row["secret"], row["sample_ns"]) for row in rows],
    )
    assert "secret  leaderboard  workload 0" in overview.out
    assert [[1e9] * 3] == [load["samples_ns"] for load in loads]


@pytest.mark.usefixtures("judged")
def test_a_rejudge_is_begun_once(admin: Shell) -> None:
    begun = admin("board", "rejudge", "sort", "--no-wait", "--json")
    again = admin("board", "rejudge", "sort", "--json")
    number = str(begun.document["id"])
    ended, twice = (admin("board", "rejudge", "sort", "--end", number) for _ in range(2))
    assert (["ada"], "conflict") == (
        [run["author"] for run in begun.document["runs"]],
        again.document["error"]["code"],
    )
    said = f"Rejudge {number} has ended. The ranking is as it was."
    assert (said, 2, True) == (ended.out.strip(), twice.code, "ended already" in twice.err)


@pytest.mark.usefixtures("judged")
@pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None, reason="exports are an extra: no pyarrow"
)
def test_an_export_is_written_once(admin: Shell, tmp_path: Path) -> None:
    done = admin("export", "all.parquet", "--board", "sort", "--json")
    again = admin("export", "all.parquet", "--json")
    assert (0, b"PAR1") == (done.code, (tmp_path / "all.parquet").read_bytes()[:4])
    assert (2, "conflict") == (again.code, again.document["error"]["code"])


@pytest.mark.usefixtures("judged")
def test_standings_and_exports_as_csv(admin: Shell, tmp_path: Path) -> None:
    standings = admin("board", "show", "sort", "--csv")
    done = admin("export", "runs.csv", "--board", "sort", "--json")
    refused = admin("export", "all.xlsx", "--json")
    (row,) = csv.DictReader(io.StringIO(standings.out))
    lines = (tmp_path / "runs.csv").read_text().splitlines()
    assert (0, 0, "submission,board", row["author"]) == (
        standings.code,
        done.code,
        lines[0][:16],
        "ada",
    )
    said = refused.document["error"]["detail"]
    assert (2, True, True) == (refused.code, ".parquet" in said, ".csv" in said)


def test_an_export_to_no_dataset_is_reported(admin: Shell, judged: tuple[int, int]) -> None:
    said = admin("export", "all.parquet", "--board", "sort", "--hub", "--json")
    assert (2, True) == (said.code, "HF_TOKEN" in said.document["error"]["hint"])
