"""Fixtures for everyone: `database_url` (migrated), `empty_database_url`, `world` (services)."""

import gc
import logging
import os
from bisect import bisect_left
from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from pathlib import Path

import pytest
import structlog
from execnet import XSpec
from hypothesis import HealthCheck, settings
from scripts.slurm_cluster import SlurmCluster, slurm_cluster
from xdist.remote import Producer  # type: ignore[import-untyped]  # it has no types
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]  # nor has this

from kernelbot.harness.timing.turns import VARIABLE
from tests.support.exhaustive import (
    leave_out_further_rows,
    leave_out_further_tests,
    leave_out_what_has_a_fellow,
)
from tests.support.loaded_tests import start_as_forks
from tests.support.postgres import TestServer, test_server
from tests.support.ray_cluster import RayCluster, ray_cluster
from tests.support.tls import read_authorities_once
from tests.support.world import World, open_world

pytest_plugins = (
    "tests.exploits.started",
    "tests.exploits.table",
    "tests.support.door",
    "tests.support.front",
    "tests.support.hosts",
    "tests.support.office",
    "tests.support.runner_groups",
)

# Hypothesis times each example by default, and what it would report is how busy the machine is.
settings.register_profile(
    "thorough", max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=20)
settings.load_profile("quick")  # `make test-all` asks for the other one


read_authorities_once()
os.environ[VARIABLE] = ""
"""Tests judge at the same time and beside other runs of the tests; those of turns name one."""
for _name in [name for name in os.environ if name.lower().endswith("_proxy")]:
    del os.environ[_name]
"""All that tests ask is on this machine."""
gc.disable()
"""Until the tests are collected: looking through 5,000 of them again and again, as they become
more, takes as long as collecting them."""


LONGEST = (
    "test_howto_commands.py",
    "server/test_serve.py",
    "launchers/slurm/test_cluster.py",
    "worker/test_durability.py",
    "web/chromium/",
    "exploits/test_exploits.py",
    "cli/test_run.py",
    "api/test_openapi.py",
    "harness/host/test_killed_from_outside.py",
    "harness/judge/test_building_ahead.py",
    "examples/",
    "cli/test_serve.py",
    "bot/test_trying.py",
    "server/test_bot.py",
    "test_documented_commands.py",
)
"""Files that take half a minute and more, most of it waiting. They come first, so that no worker is
left with one of them when the others have ended."""


_HERE = Path(__file__).parent
PLACES = sorted([*(path.parent for path in _HERE.glob("*/__init__.py")), *_HERE.glob("test_*.py")])
"""All that is here to be collected."""

COLLECTED = pytest.StashKey[list[pytest.Item]]()
"""All tests that were found, also those that this run leaves out."""


def pytest_configure(config: pytest.Config) -> None:
    """Have each worker collect other tests first. On a new machine all assertions have to be
    rewritten, for 7 s of a processor, and who comes to a file later finds that done."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        config.args = turned(PLACES, *_worker())


def turned(places: Sequence[Path], worker: int, workers: int) -> list[str]:
    """All places, beginning with the one in which this worker's share of the test files begins."""
    files = [len(list(place.glob("**/test_*.py"))) or 1 for place in places]
    before = [sum(files[:number]) / sum(files) for number in range(len(places))]
    first = bisect_left(before, worker / workers) % len(places)
    return [str(place) for place in (*places[first:], *places[:first])]


def _worker() -> tuple[int, int]:
    """Which worker of how many this process is."""
    name, count = (os.environ.get(f"PYTEST_XDIST_WORKER{end}") for end in ("", "_COUNT"))
    return (int(name.removeprefix("gw")), int(count)) if name and count else (0, 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    session: pytest.Session, items: list[pytest.Item]
) -> Generator[None]:
    """Put the longest first. Of the others each worker has the same order."""
    items.sort(key=lambda item: item.path)
    leave_out_what_has_a_fellow(items)
    leave_out_further_rows(items)
    leave_out_further_tests(items)
    session.stash[COLLECTED] = list(items)
    yield
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    name = item.nodeid.removeprefix("tests/")
    found = (turn for turn, long in enumerate(LONGEST) if name.startswith(long))
    return next(found, len(LONGEST))


def pytest_collection_finish() -> None:
    """What is there now isn't looked through again."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """Nor are all objects once more before the end."""
    gc.freeze()


TOGETHER = (
    ("exploits/test_exploits", "exploits/test_gpu_entries", "honest/test_styles"),
    ("conformance/",),
    ("examples/test_examples", "catalog/importing/test_judged", "harness/judge/ranks/test_judging"),
    tuple(f"harness/inside/gpu/test_{name}" for name in ("emulation", "libdevice", "small_floats")),
    ("launchers/slurm/test_", "server/test_serve_slurm.py", "server/test_serve_building.py"),
)
"""Files that share a host, a server, a Slurm or a process that has loaded torch, which each process
would start for itself."""


class FilesThatShare(LoadFileScheduling):  # type: ignore[misc]  # untyped, as said above
    """Files are given to processes one by one, and those that share something expensive at once."""

    def _split_scope(self, nodeid: str) -> str:
        name = nodeid.removeprefix("tests/")
        found = (files[0] for files in TOGETHER if name.startswith(files))
        return next(found, super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FilesThatShare:
    """Which process runs what."""
    return FilesThatShare(config, log)


def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[XSpec]) -> None:
    """Load the tests once for all workers."""
    start_as_forks(specs, config)


def pytest_xdist_auto_num_workers() -> int:
    """Twice as many as there are processors, as many tests wait for processes of their own. Each
    has 1.5 GB of memory, and what runs beside them 2 GB."""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return max(1, min(2 * len(os.sched_getaffinity(0)), int((memory_gb - 2) / 1.5)))


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """What a test sets up of logs ends with it: it would decide where those of the next ones go."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    structlog.reset_defaults()
    root.handlers = handlers
    root.setLevel(level)


@pytest.fixture(scope="session")
def postgres() -> Iterator[TestServer]:
    """The session's embedded Postgres."""
    with test_server() as server:
        yield server


@pytest.fixture(scope="session")
def slurm() -> Iterator[SlurmCluster]:
    """The session's Slurm. A machine without it fails, and is told what to install."""
    try:
        with slurm_cluster() as cluster:
            yield cluster
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def ray() -> Iterator[RayCluster]:
    """The session's Ray, with a node that has two GPUs by its own word. Without Ray the test is
    skipped."""
    with ray_cluster() as cluster:
        cluster.add(num_cpus=4, num_gpus=2, resources={"lab": 1})
        yield cluster


@pytest.fixture
def database_url(postgres: TestServer) -> Iterator[str]:
    """A database of this test alone, with the schema."""
    with postgres.database() as url:
        yield url


@pytest.fixture
def empty_database_url(postgres: TestServer) -> Iterator[str]:
    """A database of this test alone, without the schema."""
    with postgres.database(migrated=False) as url:
        yield url


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    """Services over a database of this test alone, an admin and two competitors."""
    async with open_world(database_url) as opened:
        yield opened
