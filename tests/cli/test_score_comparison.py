"""A score beside one's own best and the leader's, as the server compares them."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler

import pytest

from kernelbot.accounts.model import NewToken
from kernelbot.cli.score_comparison import comparison_lines, limit_lines
from kernelbot.client import KernelbotClient
from kernelbot.ranking.model import Score, ScoreComparison
from kernelbot.ranking.roofline import RooflineLimit
from kernelbot.schemas.values import plain
from kernelbot.submissions.model import SubmissionView
from tests.client.spoken import END, Handle, answer
from tests.support.live import LiveServer
from tests.support.ranked import ranked
from tests.support.terminal import Shell

AT = datetime(2026, 1, 1, tzinfo=UTC)
OWN = Score(3, "ada", 2e-3, None, AT)
LEADER = Score(4, "bob\x1b[2J", 1e-3, None, AT)


def compared(
    score_s: float, own: Score | None = None, leader: Score | None = None, device: str = "CPU"
) -> ScoreComparison:
    score = Score(9, "ada", score_s, None, AT)
    return ScoreComparison(device, score, None, shared=False, own=own, leader=leader)


def test_one_is_told_in_percent_and_as_a_factor() -> None:
    assert [
        "1.67 times as fast as your best other one, submission 3: 2.00 ms",
        "+20.0% to the leader, bob\\x1b[2J: 1.00 ms",
    ] == comparison_lines([compared(1.2e-3, OWN, LEADER)])


@pytest.mark.parametrize(
    ("score_s", "how"),
    [
        (2.0005e-3, "as fast as"),
        (1.9995e-3, "as fast as"),
        (2.002e-3, "+0.1% to"),
        (1.992e-3, "-0.4% to"),
        (1.98e-3, "1.01 times as fast as"),
    ],
)
def test_what_hardly_differs_is_not_told_as_a_factor_of_one(score_s: float, how: str) -> None:
    said = f"{how} your best other one, submission 3: 2.00 ms"
    assert [said] == comparison_lines([compared(score_s, own=OWN)])


def test_several_devices_are_named_and_what_is_far_away_is_a_factor() -> None:
    assert [
        "CPU: 2.50 times the time of your best other one, submission 3: 2.00 ms",
        "H100: 1702 times the time of the leader, bob\\x1b[2J: 1.00 ms",
    ] == comparison_lines([compared(5e-3, own=OWN), compared(1.7019, None, LEADER, "H100")])


@pytest.mark.parametrize("leader", [LEADER, replace(LEADER, submission_id=9)])
@pytest.mark.parametrize(
    ("shared", "said"), [(False, "It leads the ranking"), (True, "It shares the first rank")]
)
def test_a_first_rank_that_is_shared_does_not_lead(leader: Score, shared: bool, said: str) -> None:
    found = replace(compared(1e-3, leader=leader), rank=1, shared=shared)
    assert [said] == comparison_lines([found])


def test_what_leads_without_a_rank_is_not_compared_with_itself() -> None:
    assert [] == comparison_lines([compared(1e-3, leader=replace(LEADER, submission_id=9))])


def test_what_the_device_can_do_is_said_where_it_is_known() -> None:
    limit = RooflineLimit(is_memory=True, share=0.314, at_least_s=1e-3)
    assert [
        (
            "Memory bandwidth limits this problem on CPU: the data can't be moved in less than "
            "1.00 ms. This kernel reaches 31 % of the bandwidth."
        )
    ] == limit_lines([replace(compared(1e-3), limit=limit), compared(1e-3, device="H100")])


def sent(live: LiveServer, score_s: float, author: NewToken) -> int:
    return live.call(ranked(live.world, score_s, author=author.user))


# Each run has test_of_a_server_that_compares_nothing_the_comparison_is_left_out
@pytest.mark.exhaustive
def test_the_terminal_says_so_below_the_score(live: LiveServer, ada: Shell) -> None:
    live.call(live.world.board())
    best = sent(live, 2e-3, live.world.ada)
    sent(live, 1e-3, live.world.bob)
    number = sent(live, 3e-3, live.world.ada)
    said = ada("submission", "wait", str(number))
    lines = said.out.splitlines()
    compared = [
        f"+50.0% to your best other one, submission {best}: 2.00 ms",
        "3.00 times the time of the leader, bob: 1.00 ms",
    ]
    first = lines.index(compared[0])
    assert (0, True, compared, f"Its page: {live.url}/submission/{number}") == (
        said.code,
        lines[1].startswith("Score 3.00 ms"),
        lines[first : first + 2],
        lines[-1],
    )
    assert first < 4


class OlderServer:
    """Tells of one submission without comparing it; `asked` are the paths of all else."""

    def __init__(self, submission: SubmissionView) -> None:
        self.path = f"/api/v1/submissions/{submission.id}"
        self.asked: list[str] = []
        fields = plain(submission)
        del fields["comparisons"]
        self._body = json.dumps(fields).encode()

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        if handler.path.startswith(f"{self.path}/events"):
            answer(handler, 200, END)
        elif handler.path == self.path:
            answer(handler, 200, self._body)
        else:
            self.asked.append(handler.path)
            answer(handler, 404, b"{}")


def test_of_a_server_that_compares_nothing_the_comparison_is_left_out(
    live: LiveServer, shell: Shell, serve: Callable[[Handle], str]
) -> None:
    live.call(live.world.board())
    number = sent(live, 3e-3, live.world.ada)
    with KernelbotClient(live.url, live.world.ada.token) as client:
        older = OlderServer(client.submission(number))
    there = Shell(shell.home, {"KERNELBOT_URL": serve(older), "KERNELBOT_TOKEN": "kb_x"})
    said = there("submission", "wait", str(number))
    lines = said.out.splitlines()
    assert (0, "Score 3.00 ms", "Its page: ", []) == (
        said.code,
        lines[1][:13],
        lines[-1][:10],
        older.asked,
    )
