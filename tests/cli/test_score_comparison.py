"""A score beside one's own best and the leader's, as a server tells of them."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler

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
from kernelbot.submissions.schemas import SubmissionView
from tests.client.spoken import END, Handle, answer
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


def test_somebody_elses_is_not_compared_with_those_of_who_asks(
    live: LiveServer, client: KernelbotClient
) -> None:
    sent(live, 2e-3, live.world.admin)
    first = sent(live, 1e-3, live.world.bob)
    number = sent(live, 3e-3, live.world.ada)
    with KernelbotClient(live.url, live.world.admin.token) as organiser:
        found = compare_scores(organiser, organiser.submission(number))
    leader = OtherScore(first, "bob", 1e-3)
    assert [ScoreComparison("CPU", 3e-3, None, leader, leads=False)] == found


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
        "+20.0% to the leader, bob\\x1b[2J: 1.00 ms",
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
    assert (
        0,
        True,
        [
            f"Its page: {live.url}/submission/{number}",
            f"+50.0% to your best other one, submission {best}: 2.00 ms",
            "3.00 times the time of the leader, bob: 1.00 ms",
        ],
    ) == (said.code, lines[1].startswith("Score 3.00 ms"), lines[-3:])


class Slow:
    """Tells of one submission at once; `asked` are the paths of all else, which it doesn't answer
    before `released`."""

    def __init__(self, submission: SubmissionView) -> None:
        self.path = f"/api/v1/submissions/{submission.id}"
        self.asked: list[str] = []
        self.released = threading.Event()
        self._body = submission.model_dump_json().encode()

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        if handler.path.startswith(f"{self.path}/events"):
            answer(handler, 200, END)
        elif handler.path == self.path:
            answer(handler, 200, self._body)
        else:
            self.asked.append(handler.path)
            self.released.wait()


@pytest.fixture
def slow(live: LiveServer, client: KernelbotClient) -> Iterator[Slow]:
    found = Slow(client.submission(sent(live, 3e-3, live.world.ada)))
    yield found
    found.released.set()


def test_the_answer_is_there_before_others_scores_are_and_ctrl_c_leaves_these_out(
    shell: Shell, serve: Callable[[Handle], str], slow: Slow
) -> None:
    there = Shell(shell.home, {"KERNELBOT_URL": serve(slow), "KERNELBOT_TOKEN": "kb_x"})
    process = there.start("submission", "wait", slow.path.rpartition("/")[2])
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    while lines[-1] and not lines[-1].startswith("Its page: "):
        lines.append(process.stdout.readline())
    while not slow.asked:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate()
    assert (0, "", False) == (process.returncode, rest, "Traceback" in errors)
    assert "Score 3.00 ms" == lines[1][:13]


def test_a_program_is_told_without_asking_for_others_scores(
    shell: Shell, serve: Callable[[Handle], str], slow: Slow
) -> None:
    there = Shell(shell.home, {"KERNELBOT_URL": serve(slow), "KERNELBOT_TOKEN": "kb_x"})
    said = there("submission", "wait", slow.path.rpartition("/")[2], "--json")
    assert (0, "accepted", []) == (said.code, said.document["verdict"], slow.asked)
