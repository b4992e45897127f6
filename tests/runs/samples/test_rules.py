"""Who sees the samples of a run or of a duel."""

from dataclasses import replace

import pytest

from kernelbot.duels.model import DuelState
from kernelbot.protocol import Verdict
from kernelbot.runs.model import Run
from kernelbot.runs.samples.rules import may_see_pairs, may_see_samples
from tests.duels.test_sentences import DUEL
from tests.submissions.test_derived import FAILED, PUBLIC, SECRET


@pytest.mark.parametrize(
    ("run", "fresh", "shared"),
    [
        (PUBLIC, True, True),
        (replace(PUBLIC, verdict=Verdict.WRONG_ANSWER), True, True),
        (SECRET, True, False),
        (FAILED, False, False),
    ],
)
def test_samples_of_secret_data_are_shown_of_what_was_accepted_on_a_seed_of_its_own(
    run: Run, fresh: bool, shared: bool
) -> None:
    assert (fresh, shared, True) == (
        may_see_samples(run, sees_secret=False, seed_is_shared=False),
        may_see_samples(run, sees_secret=False, seed_is_shared=True),
        may_see_samples(run, sees_secret=True, seed_is_shared=True),
    )


@pytest.mark.parametrize(
    ("state", "fresh"),
    [(DuelState.MEASURED, True), (DuelState.FAILED, False), (DuelState.WAITING, False)],
)
def test_pairs_are_shown_of_what_was_measured_on_a_seed_of_its_own(
    state: DuelState, fresh: bool
) -> None:
    duel = replace(DUEL, state=state)
    assert (fresh, False, True) == (
        may_see_pairs(duel, sees_secret=False, seed_is_shared=False),
        may_see_pairs(duel, sees_secret=False, seed_is_shared=True),
        may_see_pairs(duel, sees_secret=True, seed_is_shared=True),
    )
