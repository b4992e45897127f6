from kernelbot.harness.judge.profiling.counters import EventCount
from kernelbot.harness.judge.profiling.counting import table

COUNTS = {
    "task-clock": EventCount(2000.0, 1.0),
    "cycles": EventCount(6000.0, 1.0),
    "instructions": EventCount(15000.0, 0.5),
    "branches": EventCount(1000.0, 1.0),
    "branch-misses": EventCount(25.0, 1.0),
    "page-faults": EventCount(0.0, 1.0),
}


def test_figures_stand_beside_what_they_mean() -> None:
    assert (
        "The mean of 40 calls in a row on the same data, so with warm caches.\n"
        "\n"
        "task-clock, us   2.000\n"
        "cycles           6,000  3.00 GHz\n"
        "instructions    15,000  2.50 per cycle (counted 50 % of the time)\n"
        "branches         1,000\n"
        "branch-misses       25  2.50 % of branches\n"
        "page-faults          0"
    ) == table(COUNTS, {}, 40, user_only=False)


def test_what_is_missing_is_said_once_for_each_reason() -> None:
    missing = {"cycles": "a VM", "context-switches": "not allowed", "instructions": "a VM"}
    text = table({"page-faults": EventCount(3.0, 1.0)}, missing, 5, user_only=True)
    assert [
        "The mean of 5 calls in a row on the same data, so with warm caches.",
        "Without what the system did for the submission: that may not be counted.",
        "",
        "page-faults  3",
        "Not counted: cycles, instructions (a VM).",
        "Not counted: context-switches (not allowed).",
    ] == text.splitlines()


def test_nothing_counted_is_no_table() -> None:
    text = table({}, {"cycles": "not allowed"}, 5, user_only=True)
    assert "Not counted: cycles (not allowed)." == text.splitlines()[-1]
    assert 2 == len(text.splitlines())
