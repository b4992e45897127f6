from benchmarks.honest_under_load import Tally, busy

from kernelbot.protocol import Verdict


def test_only_what_is_blamed_on_the_author_counts_as_refused() -> None:
    tally = Tally()
    for verdict in (Verdict.ACCEPTED, Verdict.INTERNAL_ERROR, Verdict.RULE_VIOLATION):
        tally.verdicts[verdict.value] += 1
    assert 1 == tally.refused


def test_the_loops_end_with_what_they_were_for() -> None:
    with busy(2):
        pass  # on return they are dead, or this never ends
