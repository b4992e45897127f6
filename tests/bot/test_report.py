"""How a submission ended, as messages of Discord."""

from dataclasses import replace

import pytest

from kernelbot.bot.report import best_text, bests_text, files, final_text, outcome_text, public_text
from kernelbot.domain.states import SubmissionState
from kernelbot.preflight.model import Preflight
from kernelbot.protocol import Verdict
from kernelbot.ranking.model import ComparedScores
from kernelbot.render.markdown import MESSAGE_LIMIT
from kernelbot.submissions.model import Rank, RankedOutcome, Submission
from tests.api.popcorn.test_submissions import submission
from tests.render.results import ACCEPTED, judged
from tests.support.preflights import PREFLIGHT, REFUSED, report_of


def finished(*preflights: Preflight) -> Submission:
    found = submission(SubmissionState.FINISHED, Verdict.WRONG_ANSWER)
    return replace(found, preflights=preflights)


def test_an_author_reads_what_compilers_said_as_a_short_table() -> None:
    text = final_text(finished(PREFLIGHT, Preflight(REFUSED)), [])
    parts = ("64 (40)", "75%", "✗ submission.cu:3: error: identifier")
    assert ([], True) == ([part for part in parts if part not in text], len(text) <= MESSAGE_LIMIT)


def test_the_channel_reads_nothing_of_it() -> None:
    text = public_text(finished(PREFLIGHT), [])
    assert (False, False) == ("64" in text, "submission.cu" in text)


def test_what_has_no_room_is_in_a_file() -> None:
    many = tuple(Preflight(report_of(name="k" * 300, gpu=f"H{number}")) for number in range(9))
    found = finished(*many)
    names = [one.name for one in files(found)]
    assert len(final_text(found, [])) <= MESSAGE_LIMIT
    assert [f"preflight-H{number}.txt" for number in range(9)] == names[-9:]


def test_no_name_ends_the_block() -> None:
    text = final_text(finished(Preflight(report_of(name="``` @everyone"))), [])
    assert ("``` @everyone" in text, text.count("```") % 2) == (False, 0)


@pytest.mark.parametrize(
    ("previous_s", "said", "told"),
    [
        (None, "your first on this device", "first score"),
        (2.2e-3, "personal best, 2.00 times as fast", "personal best"),
        (0.3e-3, "", "now ranked with"),  # a rejudge has measured it again since
    ],
)
def test_a_best_is_one_that_is_faster(previous_s: float | None, said: str, told: str) -> None:
    (run,) = judged(ACCEPTED).runs
    one = RankedOutcome(
        run, Rank(1, shared=False), ComparedScores(previous_s, leader_s=None, authors=2)
    )
    text = outcome_text(one)
    assert (True, bool(said)) == (said in text, "first" in text or "best" in text)
    assert told in (best_text(finished(), one) or "")


def test_a_shared_place_is_written_as_in_the_ranking() -> None:
    compared = ComparedScores(previous_s=None, leader_s=1e-3, authors=2)
    (run,) = judged(ACCEPTED).runs
    shared = RankedOutcome(run, Rank(1, shared=True), compared)
    texts = [outcome_text(shared), best_text(finished(), shared) or ""]
    assert [True, True] == ["place =1 of 2 🥇" in text for text in texts]


def test_bests_on_many_devices_fit_into_a_message() -> None:
    (run,) = judged(ACCEPTED).runs
    one = RankedOutcome(run, Rank(1, shared=False), ComparedScores(None, leader_s=None, authors=2))
    unranked = replace(one, rank=None)
    assert "" == bests_text(finished(), [unranked])
    assert best_text(finished(), one) == bests_text(finished(), [unranked, one])
    assert MESSAGE_LIMIT == len(bests_text(finished(), [one] * 60))
