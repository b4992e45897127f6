"""Exports to a dataset, as organisers' front ends ask for them."""

import importlib.util

import httpx
import pytest

from tests.conformance.popcorn_cli import ClientFailure, PopcornAdmin, Submitted
from tests.conformance.target import Outside, Target
from tests.support.exhaustive import cases


@pytest.fixture
def board_id(target: Target, board: str) -> int:
    """The board's number, which only the list tells."""
    boards = httpx.get(f"{target.url}/leaderboards", timeout=60).json()
    found: int = next(item["id"] for item in boards if item["name"] == board)
    return found


@pytest.fixture
def outside(target: Target) -> Outside:
    """Where our own platform uploads to."""
    if target.outside is None:
        pytest.skip("another server's dataset is unknown")
    if not all(map(importlib.util.find_spec, ("pyarrow", "huggingface_hub"))):
        pytest.skip("exports are an extra: pyarrow and huggingface_hub aren't installed")
    return target.outside


@pytest.mark.parametrize("private", cases([{}, {"private": True}], always=[{}]))
def test_an_export_is_private_unless_asked_otherwise(
    outside: Outside,
    admin: PopcornAdmin,
    board: str,
    board_id: int,
    ranked: Submitted,
    private: dict[str, bool],
) -> None:
    name = f"suite-{len(private)}.parquet"
    answer = admin.call(
        "POST", "/export-hf", {"leaderboard_ids": [board_id], "filename": name, **private}
    )
    dataset = outside.hub.datasets["lab/kernels"]
    assert ("ok", name, [board], True) == (
        answer["status"],
        answer["filename"],
        answer["leaderboards"],
        answer["submissions"] >= 1,
    )
    assert (True, b"PAR1") == (dataset.private, dataset.files[name][:4])


def test_nothing_is_public_while_a_board_is_open(
    target: Target, admin: PopcornAdmin, board_id: int
) -> None:
    body = {"leaderboard_ids": [board_id], "filename": "open.parquet", "private": False}
    with pytest.raises(ClientFailure, match=r"status 400: .*open"):
        admin.call("POST", "/export-hf", body)
    if target.outside is not None:
        files = [name for one in target.outside.hub.datasets.values() for name in one.files]
        assert "open.parquet" not in files


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"filename": "x.csv"}, 400),
        ({"filename": "../x.parquet"}, 400),
        ({"filename": ""}, 400),
        ({"filename": None}, 400),
        ({"leaderboard_ids": []}, 400),
        ({"leaderboard_ids": ["1"]}, 400),
        ({"leaderboard_ids": [True]}, 400),
        ({"leaderboard_ids": [2**70]}, 400),
        ({"leaderboard_ids": [2**60]}, 404),
        ({"private": "yes"}, 400),
    ],
)
def test_an_export_that_is_none(
    admin: PopcornAdmin, board_id: int, change: dict[str, object], status: int
) -> None:
    body = {"leaderboard_ids": [board_id], "filename": "x.parquet", **change}
    with pytest.raises(ClientFailure, match=f"status {status}: .+"):
        admin.call("POST", "/export-hf", body)
