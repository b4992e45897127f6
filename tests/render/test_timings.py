from dataclasses import replace
from datetime import UTC, datetime, timedelta

from kernelbot.protocol import Phase
from kernelbot.render.timings import RunTimes, timings_text

SENT = datetime(2026, 1, 1, 12, tzinfo=UTC)
RUN = RunTimes(
    "CPU",
    created_at=SENT,
    started_at=SENT + timedelta(seconds=0.5),
    finished_at=SENT + timedelta(seconds=4.0),
    phases_s={Phase.TEST: 0.25, Phase.BENCHMARK: 1.5},
    timings_s={"startup": 0.01, "turn_wait": 1.0, "spawn": 0.125, "sampling": 1.0, "total": 2.0},
    judged_s=2.0,
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
    assert TEXT == timings_text(SENT, [RUN])


def test_a_run_whose_result_is_secret_tells_when_it_began_and_ended() -> None:
    hidden = replace(RUN, phases_s={}, timings_s={}, judged_s=None)
    shown = timings_text(SENT, [hidden]).splitlines()[2:]
    assert ["waited in the queue", "from there to the verdict", "from sending to this verdict"] == [
        line.rsplit("  ", 1)[0].strip() for line in shown
    ]


def test_what_hasnt_begun_or_ended_says_no_more_than_is_known() -> None:
    waits = replace(RUN, started_at=None, finished_at=None)
    runs = replace(RUN, finished_at=None)
    texts = timings_text(SENT, [waits, runs]).split("\n\n")
    assert "CPU: it hasn't begun." == texts[0]
    assert ["CPU", "step                   time", "waited in the queue  500 ms"] == (
        texts[1].splitlines()
    )


def test_a_clock_that_was_put_back_takes_no_time_away() -> None:
    slow = replace(RUN, judged_s=9.0)
    assert "brought there and back, written down     0 ns" in timings_text(SENT, [slow])
