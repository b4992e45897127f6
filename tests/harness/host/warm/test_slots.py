"""A warm judge that takes several jobs at once."""

import threading
from collections.abc import Iterator

import pytest

from kernelbot.harness.host.warm.connection import WAITS
from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.harness.host.warm.turns import GaveUp, JobSlots
from kernelbot.library.hosting import host_with_slots
from kernelbot.protocol import EventKind, Timeouts, Verdict
from tests.harness.jobs import SORT, a_job, a_problem
from tests.support.warm import end_judges

PATIENT = a_problem(timeouts=Timeouts(test_s=30, benchmark_s=30, ranked_s=30))
SLEEP_S = 2.1
NOW = "print(time.monotonic())"
SLOW = SORT.replace(
    "    return", f"    import time; {NOW}; time.sleep({SLEEP_S} / 3); {NOW}\n    return"
)
"""Tells by the clock of all processes when it worked."""
WAIT_S = 60.0


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateFolder]:
    opened = PrivateFolder.open(tmp_path_factory.mktemp("warm") / "own")
    yield opened
    end_judges(opened)
    opened.close()


@pytest.mark.exhaustive  # each run has test_who_gives_up_leaves_the_slot_to_others
def test_so_many_jobs_are_judged_side_by_side(folder: PrivateFolder) -> None:
    host, said = host_with_slots(folder, 2), list[str]()
    verdicts = [host.judge(a_job(SORT), lambda _: None, print).verdict]
    spans = list[tuple[float, float]]()

    def one() -> None:
        result = host.judge(a_job(SLOW, problem=PATIENT), lambda _: None, said.append)
        verdicts.append(result.verdict)
        times_s = [float(line) for line in result.stdout.split()]
        spans.append((times_s[0], times_s[-1]))

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    first, second, third = sorted(spans)
    assert second[0] < first[1]
    assert third[0] > min(first[1], second[1])
    assert ([WAITS], [Verdict.ACCEPTED] * 4) == (said, verdicts)


@pytest.mark.exhaustive  # each run has test_who_gives_up_leaves_the_slot_to_others
def test_a_job_side_by_side_tells_that_it_has_begun_and_no_more(folder: PrivateFolder) -> None:
    told = list[EventKind]()
    host_with_slots(folder, 1).judge(a_job(SORT), lambda event: told.append(event.kind), print)
    assert [EventKind.STARTED] == told


def test_who_gives_up_leaves_the_slot_to_others() -> None:
    slots, waited = JobSlots(1), list[str]()
    with (
        slots.held(lambda: waited.append("first"), lambda: False),
        pytest.raises(GaveUp),
        slots.held(lambda: waited.append("second"), lambda: True),
    ):
        pass
    with slots.held(lambda: waited.append("third"), lambda: False):
        pass
    assert ["second"] == waited
