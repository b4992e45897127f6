"""The server, two authors, an organiser and a board."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance import submissions
from tests.conformance.platform import started_platform
from tests.conformance.popcorn_cli import PopcornAdmin, PopcornCli, Submitted
from tests.conformance.target import DIRECTORY, Target


@pytest.fixture(scope="session")
def target() -> Iterator[Target]:
    """The server named by `make conformance URL=...`, else one of our own for the suite."""
    url = os.environ.get("CONFORMANCE_URL")
    if url:
        yield Target.from_environment(url)
        return
    # Not in pytest's folder: when another pytest starts, it closes that to the database's account.
    folder = tempfile.TemporaryDirectory(prefix="platform-", ignore_cleanup_errors=True)
    with folder as name, started_platform(Path(name)) as own:
        yield own


@pytest.fixture(scope="session")
def author(target: Target) -> Iterator[PopcornCli]:
    """An author with a token."""
    if target.token is None:
        pytest.skip("TOKEN of an author isn't given")
    with PopcornCli(target.url, target.token, poll_interval_s=target.poll_interval_s) as client:
        yield client


@pytest.fixture(scope="session")
def other(target: Target) -> Iterator[PopcornCli]:
    """Another author."""
    if target.other_token is None:
        pytest.skip("OTHER_TOKEN of a second author isn't given")
    interval_s = target.poll_interval_s
    with PopcornCli(target.url, target.other_token, poll_interval_s=interval_s) as client:
        yield client


@pytest.fixture(scope="session")
def stranger(target: Target) -> Iterator[PopcornCli]:
    """Somebody without a token."""
    with PopcornCli(target.url, None) as client:
        yield client


@pytest.fixture(scope="session")
def admin(target: Target) -> Iterator[PopcornAdmin]:
    """The organiser."""
    if target.admin_token is None:
        pytest.skip("ADMIN_TOKEN isn't given")
    with PopcornAdmin(target.url, target.admin_token) as client:
        yield client


@pytest.fixture(scope="session")
def board(target: Target, request: pytest.FixtureRequest) -> Iterator[str]:
    """A board over the example problem, gone afterwards if it was made for the suite."""
    if target.board is not None:
        yield target.board
        return
    admin: PopcornAdmin = request.getfixturevalue("admin")
    name = admin.call("POST", "/leaderboards", {"directory": DIRECTORY})["leaderboard"]
    yield name
    admin.call("DELETE", f"/leaderboards/{name}?force=true")


@pytest.fixture(scope="session")
def device(author: PopcornCli, board: str) -> str:
    """A device that the board offers."""
    return author.gpus(board)[0]


@pytest.fixture(scope="session")
def ranked(author: PopcornCli, board: str, device: str) -> Submitted:
    """A ranked submission that was accepted."""
    return author.submit(submissions.correct(), board, device, "leaderboard")


@pytest.fixture(scope="session")
def tested(author: PopcornCli, board: str, device: str) -> Submitted:
    """A submission in test mode that was accepted."""
    return author.submit(submissions.correct(), board, device, "test")
