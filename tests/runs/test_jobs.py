"""The seeds and names of jobs, by their run and its board's secret."""

import re
from types import SimpleNamespace
from typing import cast

from kernelbot.runs.job_terms import job_id_of
from kernelbot.runs.jobs import _secret_seed
from kernelbot.runs.store import LockedRun

SECRET = b"\xff" * 32


def seed(
    run_id: int, number: int = 1, rejudge_id: int | None = None, *, fixed: bool = False
) -> int:
    run = SimpleNamespace(id=run_id, rejudge_id=rejudge_id, fixed_seed=fixed, board_secret=SECRET)
    return _secret_seed(cast(LockedRun, run), number)


def test_each_attempt_has_a_seed_of_31_bits_of_its_own() -> None:
    seeds = [seed(run_id, number) for run_id in range(1, 26) for number in (1, 2)]
    assert 50 == len(set(seeds))
    assert 1 << 30 < max(seeds) < 1 << 31
    assert seeds[0] == seed(1, 1)


def test_runs_of_a_rejudge_or_a_board_share_theirs() -> None:
    assert 1 == len({seed(run_id, number, 7) for run_id in (1, 2) for number in (1, 2)})
    assert seed(1, 1, 7) != seed(1, 1, 8)
    assert {(1 << 31) - 1} == {seed(run_id, fixed=True) for run_id in (1, 2)}


def test_a_job_is_named_by_run_attempt_and_database() -> None:
    name = job_id_of(12, 3, SECRET)
    assert re.fullmatch(r"12\.3\.[0-9a-f]{12}", name)
    assert name == job_id_of(12, 3, SECRET) != job_id_of(12, 3, b"other")
