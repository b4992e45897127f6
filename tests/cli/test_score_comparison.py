"""A score beside one's own best and the leader's, as a server tells of them."""

from collections.abc import Iterator

import pytest

from kernelbot.accounts.model import NewToken
from kernelbot.cli.score_comparison import (
    OtherScore,
    ScoreComparison,
    compare_scores,
    comparison_lines,
)
from kernelbot.client import KernelbotClient
from kernelbot.protocol import Mode
from tests.support.live import LiveServer
from tests.support.ranked import ranked
from tests.support.terminal import Shell

OWN = OtherScore(3, "ada", 2e-3)
LEADER = OtherScore(4, "bob\x1b[2J", 1e-3)


@pytest.fixture
def client(live: LiveServer) -> Iterator[KernelbotClient]:
    live.call(live.world.board(devices=("CPU", "H100")))
    with KernelbotClient(live.url, live.world.ada.token) as found:
        yield found


def sent(live: LiveServer, score_s: float, author: NewToken, device: str = "CPU") -> int:
    return live.call(ranked(live.world, score_s, author=author.user, device=device))


def test_it_is_compared_with_ones_best_other_and_the_leader(
    live: LiveServer, client: KernelbotClient
) -> None:
    ada, bob = live.world.ada, live.world.bob
    sent(live, 4e-3, ada)
    best = sent(live, 2e-3, ada)
    sent(live, 1e-4, ada, device="H100")
    first = sent(live, 1e-3, bob)
    number = sent(live, 3e-3, ada)
    assert [
        ScoreComparison(
            "CPU", 3e-3, OtherScore(best, "ada", 2e-3), OtherScore(first, "bob", 1e-3), leads=False
        )
    ] == compare_scores(client, client.submission(number))


def test_the_first_of_all_leads_and_has_nothing_to_be_compared_with(
    live: LiveServer, client: KernelbotClient
) -> None:
    number = sent(live, 1e-3, live.world.ada)
    found = compare_scores(client, client.submission(number))
    assert [ScoreComparison("CPU", 1e-3, None, None, leads=True)] == found
    assert ["It leads the ranking"] == comparison_lines(found)


@pytest.mark.parametrize("mode", [Mode.TEST, Mode.LEADERBOARD])
def test_what_has_no_score_is_not_compared(
    live: LiveServer, client: KernelbotClient, mode: Mode
) -> None:
    waiting = live.call(live.world.submit(mode=mode, devices=("CPU",)))
    assert [] == compare_scores(client, client.submission(waiting.id))


def test_one_is_told_in_percent_and_as_a_factor() -> None:
    found = [ScoreComparison("CPU", 1.2e-3, OWN, LEADER, leads=False)]
    assert [
        "1.67 times as fast as your best other one, submission 3: 2.00 ms",
        "+20.0 % to the leader, bob\\x1b[2J: 1.00 ms",
    ] == comparison_lines(found)


def test_several_devices_are_named_and_what_is_far_away_is_a_factor() -> None:
    found = [
        ScoreComparison("CPU", 5e-3, OWN, None, leads=False),
        ScoreComparison("H100", 5e-3, None, LEADER, leads=False),
    ]
    assert [
        "CPU: 2.50 times the time of your best other one, submission 3: 2.00 ms",
        "H100: 5.00 times the time of the leader, bob\\x1b[2J: 1.00 ms",
    ] == comparison_lines(found)


@pytest.mark.usefixtures("client")
def test_the_terminal_says_so_below_the_score(live: LiveServer, ada: Shell) -> None:
    best = sent(live, 2e-3, live.world.ada)
    sent(live, 1e-3, live.world.bob)
    number = sent(live, 3e-3, live.world.ada)
    said = ada("submission", "wait", str(number))
    lines = said.out.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("Score 3.00 ms"))
    compared = [
        f"+50.0 % to your best other one, submission {best}: 2.00 ms",
        "3.00 times the time of the leader, bob: 1.00 ms",
    ]
    assert (0, True) == (said.code, set(compared) <= set(lines[at + 1 : at + 5]))
