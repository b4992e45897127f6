from dataclasses import replace
from datetime import timedelta

from kernelbot.protocol import Phase, PhaseResult, Verdict
from kernelbot.render.timings import timings_text
from tests.render.results import ACCEPTED, AT, judged

RESULT = replace(
    ACCEPTED,
    phases=(
        PhaseResult(Phase.TEST, Verdict.ACCEPTED, 0.25),
        PhaseResult(Phase.BENCHMARK, Verdict.ACCEPTED, 1.5),
    ),
    timings={"startup": 0.01, "turn_wait": 1.0, "spawn": 0.125, "sampling": 1.0, "total": 2.0},
)
SENT = judged(RESULT)
RUN = replace(
    SENT.runs[0],
    started_at=AT + timedelta(seconds=0.5),
    finished_at=AT + timedelta(seconds=4.0),
)
TEXT = """\
CPU
step                                     time
waited in the queue                    500 ms
a judge made ready                    10.0 ms
waited for others' measuring           1.00 s
judged                                 2.00 s
  phase test                           250 ms
  phase benchmark                      1.50 s
  processes started                    125 ms
brought there and back, written down   490 ms
from sending to this verdict           4.00 s"""


def test_each_second_from_sending_to_the_verdict_has_a_step() -> None:
    assert TEXT == timings_text(replace(SENT, runs=(RUN,)))


def test_a_run_whose_result_is_secret_tells_when_it_began_and_ended() -> None:
    hidden = replace(RUN, result=None)
    shown = timings_text(replace(SENT, runs=(hidden,))).splitlines()[2:]
    assert ["waited in the queue", "from there to the verdict", "from sending to this verdict"] == [
        line.rsplit("  ", 1)[0].strip() for line in shown
    ]


def test_what_hasnt_begun_or_ended_says_no_more_than_is_known() -> None:
    waits = replace(RUN, started_at=None, finished_at=None)
    runs = replace(RUN, id=RUN.id + 1, finished_at=None)
    texts = timings_text(replace(SENT, runs=(waits, runs))).split("\n\n")
    assert "CPU: it hasn't begun." == texts[0]
    assert ["CPU", "step                   time", "waited in the queue  500 ms"] == (
        texts[1].splitlines()
    )


def test_a_clock_that_was_put_back_takes_no_time_away() -> None:
    slow = replace(RUN, result=replace(RESULT, timings={**RESULT.timings, "total": 9.0}))
    assert "brought there and back, written down     0 ns" in timings_text(
        replace(SENT, runs=(slow,))
    )


def test_what_was_judged_before_is_no_way_there_and_back() -> None:
    again = replace(RUN, attempts=2)
    last = timings_text(replace(SENT, runs=(again,))).splitlines()[-2]
    assert "earlier attempts, brought there and back" == last.rsplit("  ", 1)[0].strip()
