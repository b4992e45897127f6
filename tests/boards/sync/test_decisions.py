"""What a sync does to a board, and what it says of that, without a database."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kernelbot.boards.model import Board, Visibility
from kernelbot.boards.problem_hashes import problem_hashes
from kernelbot.boards.sync.model import SyncAction, SyncItem, SyncOptions, SyncOutcome
from kernelbot.boards.sync.service import _decide, _Wanted
from kernelbot.boards.sync.store import SyncedBoard
from kernelbot.catalog.competition import Competition, CompetitionProblem
from kernelbot.protocol import HarnessKind, RankRule
from tests.support.problems import sort_problem

NOW = datetime(2031, 2, 3, 4, 5, tzinfo=UTC)
BEFORE_NOW, AFTER_NOW = NOW.replace(minute=4), NOW.replace(minute=6)
LISTED = CompetitionProblem("sort", Path("sort"), None, (), 1)
SPRING = Competition("Spring", "", None, (LISTED,), ())
HASHES = problem_hashes(sort_problem())
WANTED = _Wanted(LISTED, SPRING, sort_problem(), HASHES, ("CPU",))
BOARD = Board(
    id=1,
    name="sort",
    description="",
    problem="sort",
    problem_version_id=1,
    harness=HarnessKind.NATIVE,
    ranking_by=RankRule.LAST,
    devices=("CPU",),
    visibility=Visibility.PUBLIC,
    deadline=None,
    created_at=NOW,
)
THERE = SyncedBoard(BOARD, "Spring", *HASHES, named=("CPU",), scores=0)
FORCE = SyncOptions(force=True)
TAKE_OVER = "use force to take it over"
OVER = "its deadline has passed; use force to change it all the same"
CREATE, UPDATE, SKIP = SyncAction.CREATE, SyncAction.UPDATE, SyncAction.SKIP


def board(**changes: Any) -> SyncedBoard:
    return replace(THERE, board=replace(BOARD, **changes))


def decided(
    before: SyncedBoard | None, wanted: _Wanted = WANTED, options: SyncOptions | None = None
) -> tuple[SyncAction, str]:
    return _decide(wanted, before, options or SyncOptions(), NOW)


def listed(deadline: datetime | None) -> _Wanted:
    return replace(WANTED, listed=replace(LISTED, deadline=deadline))


def naming(*devices: str, offered: tuple[str, ...], **said: Any) -> _Wanted:
    """The problem names these devices, and the board would offer those."""
    definition = replace(sort_problem(devices=devices), **said)
    return _Wanted(LISTED, SPRING, definition, problem_hashes(definition), offered)


@pytest.mark.parametrize(
    ("before", "wanted", "expected"),
    [
        (None, WANTED, (CREATE, "on CPU")),
        (None, replace(WANTED, devices=("CPU", "H100")), (CREATE, "on CPU, H100")),
        (
            None,
            replace(WANTED, devices=()),
            (SKIP, "none of its devices is configured here (CPU)"),
        ),
        (
            None,
            replace(WANTED, devices=(), definition=sort_problem(devices=())),
            (SKIP, "none of its devices is configured here (it names none)"),
        ),
        (THERE, WANTED, (SKIP, "unchanged")),
        (
            replace(THERE, competition=None),
            WANTED,
            (SKIP, f"there is a board of that name, made by hand; {TAKE_OVER}"),
        ),
        (
            replace(THERE, competition="Winter"),
            WANTED,
            (SKIP, f"there is a board of that name, of 'Winter'; {TAKE_OVER}"),
        ),
        (replace(THERE, content_hash=b"other"), WANTED, (UPDATE, "the text")),
        (
            replace(THERE, content_hash=b"other", judging_hash=b"other"),
            WANTED,
            (UPDATE, "a new version of the problem"),
        ),
        (board(reveal_code=True), WANTED, (UPDATE, "who reads code")),
        (
            board(reveal_code=True, fixed_seed=True),
            WANTED,
            (UPDATE, "who reads code, the secret seeds"),
        ),
        (
            board(deadline=AFTER_NOW),
            WANTED,
            (UPDATE, "the deadline: 2031-02-03 04:06 UTC -> none"),
        ),
        (
            board(deadline=BEFORE_NOW),
            listed(AFTER_NOW),
            (UPDATE, "the deadline: 2031-02-03 04:04 UTC -> 2031-02-03 04:06 UTC"),
        ),
        (board(deadline=BEFORE_NOW), listed(NOW), (SKIP, OVER)),
        (
            board(deadline=AFTER_NOW),
            listed(BEFORE_NOW),
            (UPDATE, "the deadline: 2031-02-03 04:06 UTC -> 2031-02-03 04:04 UTC"),
        ),
        (
            board(devices=("CPU", "H100")),
            WANTED,
            (
                UPDATE,
                (
                    "devices: CPU (no longer H100: the scores there leave the ranking, and come"
                    " back with rejudges and duels once a sync offers it again)"
                ),
            ),
        ),
        (
            board(devices=("T4", "CPU", "H100")),
            WANTED,
            (
                UPDATE,
                (
                    "devices: CPU (no longer T4, H100: the scores there leave the ranking, and come"
                    " back with rejudges and duels once a sync offers them again)"
                ),
            ),
        ),
        (
            board(devices=("CPU",)),
            replace(WANTED, devices=("CPU", "T4")),
            (UPDATE, "devices: CPU, T4"),
        ),
        (THERE, naming("CPU", "T4", offered=("CPU", "T4")), (UPDATE, "devices: CPU, T4")),
        (
            THERE,
            naming("CPU", "T4", offered=("CPU", "T4"), description="Sort."),
            (UPDATE, "the text, devices: CPU, T4"),
        ),
        (THERE, naming("CPU", "T4", offered=("CPU",)), (UPDATE, "the devices that it names")),
        (
            replace(THERE, judging_hash=b"other"),
            naming("CPU", "T4", offered=("CPU",)),
            (UPDATE, "a new version of the problem"),
        ),
    ],
)
def test_what_happens_to_a_board_and_why(
    before: SyncedBoard | None, wanted: _Wanted, expected: tuple[SyncAction, str]
) -> None:
    assert expected == decided(before, wanted)


@pytest.mark.parametrize(
    ("before", "wanted", "expected"),
    [
        (replace(THERE, competition=None), WANTED, (UPDATE, "the competition")),
        (
            board(deadline=BEFORE_NOW),
            listed(NOW),
            (UPDATE, "the deadline: 2031-02-03 04:04 UTC -> 2031-02-03 04:05 UTC"),
        ),
        (THERE, WANTED, (SKIP, "unchanged")),
    ],
)
def test_what_happens_by_force(
    before: SyncedBoard, wanted: _Wanted, expected: tuple[SyncAction, str]
) -> None:
    assert expected == decided(before, wanted, FORCE)


@pytest.mark.parametrize(
    ("scores", "devices", "said"),
    [
        (
            1,
            ("CPU",),
            (
                "1 score leaves the ranking; to measure the best again on it, afterwards: "
                "kernelbot board rejudge sort --device CPU"
            ),
        ),
        (
            2,
            ("CPU", "H100"),
            (
                "2 scores leave the ranking; to measure the best again on it, afterwards: "
                "kernelbot board rejudge sort --device CPU and "
                "kernelbot board rejudge sort --device H100"
            ),
        ),
    ],
)
def test_what_a_new_version_does_to_scores(
    scores: int, devices: tuple[str, ...], said: str
) -> None:
    before = replace(board(devices=devices), judging_hash=b"other", scores=scores)
    found = decided(before, replace(WANTED, devices=devices))
    assert (UPDATE, f"a new version of the problem ({said})") == found


def test_an_outcome_tells_what_happens_to_how_many() -> None:
    items = [SyncItem(action, name, "Spring", "") for name, action in (("a", CREATE), ("b", SKIP))]
    outcome = SyncOutcome("x", None, False, tuple(items))
    assert [[items[0]], [], [items[1]]] == [
        list(outcome.with_action(action)) for action in (CREATE, UPDATE, SKIP)
    ]
