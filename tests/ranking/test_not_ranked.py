from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from kernelbot.accounts.model import User
from kernelbot.domain.states import SubmissionState
from kernelbot.moderation.reviews.model import Evidence, ReviewRules
from kernelbot.moderation.reviews.service import keep_findings
from kernelbot.protocol import Mode
from kernelbot.ranking.model import NotRanked, NotRankedReason
from kernelbot.submissions.model import Submission
from tests.support.ranked import judged as judge_as
from tests.support.ranked import ranked, rejudged
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World


@pytest.fixture
async def judged(world: World, tmp_path: Path) -> AsyncIterator[World]:
    """A world with a board, where what is sent is judged."""
    await world.board()
    async with working(quick_settings(tmp_path), world.database.url):
        yield world


async def _send(
    world: World, said: str, author: User | None = None, mode: Mode = Mode.LEADERBOARD
) -> Submission:
    sent = await world.submit(author, content=f"# fake: {said}\n{said!r}\n".encode(), mode=mode)
    return await finished(world, sent.id)


async def _again(world: World, submission: Submission) -> NotRanked | None:
    return (await world.services.submissions.get(world.admin.user, submission.id)).not_ranked


async def _reasons(world: World, *numbers: int) -> list[NotRankedReason | None]:
    found = [await world.services.submissions.get(world.admin.user, one) for one in numbers]
    return [one.not_ranked.reason if one.not_ranked else None for one in found]


async def test_what_is_ranked_has_no_reason_not_to_be(judged: World) -> None:
    sent = await _send(judged, "accepted 1.0 0.9 1.1")
    assert (1, None) == (sent.place, sent.not_ranked)


@pytest.mark.exhaustive  # each run has test_what_is_ranked_has_no_reason_not_to_be
async def test_the_same_code_names_the_first(judged: World) -> None:
    first = await _send(judged, "accepted 1.0 0.9 1.1")
    again = await _send(judged, "accepted 1.0 0.9 1.1")
    assert again.not_ranked == NotRanked.because(NotRankedReason.SAME_CODE, first.id)


async def test_the_same_code_is_said_before_it_is_judged(judged: World) -> None:
    first = await _send(judged, "accepted 1.0 0.9 1.1")
    code = b"# again\n# fake: accepted 1.0 0.9 1.1\n'accepted 1.0 0.9 1.1'   # the same\n"
    sent = await judged.submit(content=code, mode=Mode.LEADERBOARD)
    known = NotRanked.because(NotRankedReason.SAME_CODE, first.id)
    assert (SubmissionState.QUEUED, known) == (sent.state, sent.not_ranked)
    test = await judged.submit(content=code, mode=Mode.TEST)
    other = await judged.submit(content=b"'something else'", mode=Mode.LEADERBOARD)
    assert [None, None] == [test.not_ranked, other.not_ranked]


@pytest.mark.exhaustive  # each run has test_what_is_ranked_has_no_reason_not_to_be
async def test_the_same_code_as_what_was_deleted_names_that(judged: World) -> None:
    first = await _send(judged, "accepted 1.0 0.9 1.1")
    await judged.services.deletion.delete_submission(judged.ada.user, first.id)
    again = await _send(judged, "accepted 1.0 0.9 1.1")
    assert again.not_ranked == NotRanked.because(NotRankedReason.SAME_CODE, first.id)


@pytest.mark.exhaustive  # each run has test_what_is_ranked_has_no_reason_not_to_be
async def test_what_is_no_better_names_what_stands(judged: World) -> None:
    first = await _send(judged, "accepted 1.0 0.9 1.1")
    close = await _send(judged, "accepted 1.05 0.95 1.15")
    assert close.not_ranked == NotRanked.because(NotRankedReason.NO_BETTER, first.id)


@pytest.mark.exhaustive  # each run has test_what_is_ranked_has_no_reason_not_to_be
async def test_what_was_improved_on_names_the_better_one(judged: World) -> None:
    first = await _send(judged, "accepted 1.0 0.9 1.1")
    better = await _send(judged, "accepted 0.5 0.45 0.55")
    assert await _again(judged, first) == NotRanked.because(NotRankedReason.SUPERSEDED, better.id)


async def test_what_was_sent_first_and_measured_last_is_no_better(world: World) -> None:
    await world.board()
    first = await world.submit(content=b"'first'", mode=Mode.LEADERBOARD)
    second = await world.submit(content=b"'second'", mode=Mode.LEADERBOARD)
    await judge_as(world, second.id, 1.0)
    await judge_as(world, first.id, 1.5)
    assert await _again(world, first) == NotRanked.because(NotRankedReason.NO_BETTER, second.id)


async def test_what_is_older_than_a_rejudge_does_not_compete_with_it(world: World) -> None:
    await world.board()
    older = await ranked(world, 1.0)
    best = await ranked(world, 0.5)
    close = await ranked(world, 0.51)
    await rejudged(world, {best: 2.0})
    reasons = await _reasons(world, older, close)
    assert [NotRankedReason.BEFORE_REJUDGE] * 2 == reasons
    better = await ranked(world, 1.5)
    reasons = await _reasons(world, best, older, close)
    assert [NotRankedReason.SUPERSEDED, *[NotRankedReason.BEFORE_REJUDGE] * 2] == reasons
    shown = await world.services.submissions.get(world.admin.user, older)
    assert shown.not_ranked == NotRanked.because(NotRankedReason.BEFORE_REJUDGE, better)


async def test_what_is_older_than_a_rejudge_and_slower_is_no_better(world: World) -> None:
    await world.board()
    best = await ranked(world, 1.0)
    slower = await ranked(world, 1.5)
    await rejudged(world, {best: 1.2})
    assert [NotRankedReason.NO_BETTER] == await _reasons(world, slower)


@pytest.mark.exhaustive  # each run has test_what_is_ranked_has_no_reason_not_to_be
async def test_what_is_held_says_so(judged: World) -> None:
    held = await _send(judged, "accepted 1.0 suspicious")
    assert held.not_ranked == NotRanked.because(NotRankedReason.HELD)


@pytest.mark.exhaustive  # each run has test_what_is_ranked_has_no_reason_not_to_be
async def test_what_is_refused_says_so(judged: World) -> None:
    sent = await _send(judged, "accepted 1.0")
    refused = await judged.services.reviews.refuse(judged.admin.user, sent.id, "copied")
    assert refused.not_ranked == NotRanked.because(NotRankedReason.REFUSED)


@pytest.mark.exhaustive  # each run has test_what_is_ranked_has_no_reason_not_to_be
async def test_what_a_rule_refused_names_no_organiser(judged: World) -> None:
    sent = await _send(judged, "accepted 1.0")
    found = Evidence("kernelguard", "NO_CACHES", "high", "It caches.")
    async with judged.database.write() as session:
        rules = ReviewRules(refuse_rules=("NO_CACHES",))
        await keep_findings(session, sent.id, (found,), rules)
    refused = await _again(judged, sent)
    assert "Not ranked: it was refused." == (refused and refused.sentence)


@pytest.mark.exhaustive  # each run has test_what_is_ranked_has_no_reason_not_to_be
async def test_a_banned_author_s_says_so(judged: World) -> None:
    sent = await _send(judged, "accepted 1.0")
    await judged.services.users.ban(judged.admin.user, judged.ada.user.id)
    assert await _again(judged, sent) == NotRanked.because(NotRankedReason.BANNED)


@pytest.mark.exhaustive  # each run has test_what_is_ranked_has_no_reason_not_to_be
async def test_a_script_s_result_on_a_native_board_is_not_ranked(judged: World) -> None:
    """As after a change of the problem's judging."""
    sent = await _send(judged, "accepted 1.0")
    with psycopg.connect(judged.database.url) as connection:
        connection.execute("UPDATE runs SET unverified = true")
        connection.execute("SELECT rebuild_standings()")
    assert await _again(judged, sent) == NotRanked.because(NotRankedReason.SCRIPT)


@pytest.mark.exhaustive  # each run has test_what_is_ranked_has_no_reason_not_to_be
async def test_a_problem_that_changed_says_so(judged: World) -> None:
    sent = await _send(judged, "accepted 1.0")
    with psycopg.connect(judged.database.url) as connection:
        connection.execute(
            "WITH v AS (INSERT INTO problem_versions (problem_id, content_hash, judging_hash,"
            " definition, harness, ranking_by) SELECT problem_id, sha256('x'), sha256('x'),"
            " definition, harness, ranking_by FROM problem_versions RETURNING id)"
            " UPDATE leaderboards SET problem_version_id = v.id FROM v"
        )
        connection.execute("SELECT rebuild_standings()")
    assert await _again(judged, sent) == NotRanked.because(NotRankedReason.PROBLEM_CHANGED)


@pytest.mark.exhaustive  # each run has test_what_is_ranked_has_no_reason_not_to_be
async def test_a_device_that_is_gone_says_so(judged: World) -> None:
    sent = await _send(judged, "accepted 1.0")
    with psycopg.connect(judged.database.url) as connection:
        connection.execute("DELETE FROM leaderboard_devices")
    assert await _again(judged, sent) == NotRanked.because(NotRankedReason.DEVICE_REMOVED)


async def test_a_submission_in_another_mode_has_no_reason(judged: World) -> None:
    sent = await _send(judged, "accepted 1.0", mode=Mode.TEST)
    assert sent.not_ranked is None


@pytest.mark.exhaustive  # each run has test_what_is_ranked_has_no_reason_not_to_be
async def test_the_verdict_tells_of_what_was_not_accepted(judged: World) -> None:
    sent = await _send(judged, "wrong_answer")
    assert sent.not_ranked is None


async def test_a_list_says_why_as_well(judged: World) -> None:
    first = await _send(judged, "accepted 1.0 0.9 1.1")
    await _send(judged, "accepted 1.0 0.9 1.1")
    listed = await judged.services.submission_lists.own(judged.ada.user)
    assert [NotRanked.because(NotRankedReason.SAME_CODE, first.id), None] == [
        submission.not_ranked for submission in listed
    ]


@pytest.mark.parametrize("reason", NotRankedReason)
def test_every_reason_is_a_sentence(reason: NotRankedReason) -> None:
    sentence = NotRanked.because(reason, 16).sentence
    assert (True, True) == (sentence.startswith("Not ranked: "), sentence.endswith("."))
