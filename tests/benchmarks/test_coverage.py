"""What the benchmark of intervals counts."""

import json
from dataclasses import asdict
from pathlib import Path

import psycopg
import pytest
from benchmarks.coverage import read
from benchmarks.coverage_known import known_before, known_in
from benchmarks.coverage_rules import (
    Judging,
    Kernel,
    Known,
    as_one,
    of_one_process,
    own,
    report,
    shown,
    together,
)

ASSUMED = Known(0.05, 0, is_ranked=True)


def _kernel(judgings: list[Judging], known: Known = ASSUMED) -> Kernel:
    return Kernel(judgings, [known] * len(judgings))


STEADY = [Judging("steady", (1e5,) * 24, 3, "precision", 1.0) for _ in range(4)]
"""All alike."""
DIFFERENT = [
    Judging("different", (99e3 * factor, 1e5 * factor, 101e3 * factor) * 8, 3, "processes", 1.0)
    for factor in (0.98, 1.0, 1.0, 1.02)
]
"""Each of three processes that differ by a hundredth, and from each other by two."""


def test_intervals_that_hold_the_median_over_all_judgings_are_counted() -> None:
    found = [rule(_kernel(DIFFERENT)) for rule in (of_one_process, as_one, own)]
    assert [(2, 12), (2, 4), (4, 4)] == [(one.held, one.count) for one in found]


def test_what_a_device_has_shown_widens_what_is_shown() -> None:
    known = Known(0.1, 20, is_ranked=True)
    assert pytest.approx([0.005] * 4) == own(_kernel(STEADY)).half_widths
    assert pytest.approx([0.197] * 4, abs=0.001) == shown(_kernel(STEADY, known)).half_widths


def test_what_is_measured_again_is_not_shown() -> None:
    assert 0 == shown(_kernel(STEADY, Known(0.1, 20, is_ranked=False))).count


def test_judgings_before_which_too_little_was_known_can_be_left_out() -> None:
    kernel = Kernel(STEADY, [Known(0.05, pairs, is_ranked=True) for pairs in (0, 1, 12, 13)])
    assert 2 == shown(kernel, fewest_pairs=12).count


def test_the_report_has_a_line_for_each_rule_and_each_kernel() -> None:
    once = Judging("judged once", (1e5,) * 24, 3, "precision", 1.0)
    text = report([*STEADY, *DIFFERENT, once], [ASSUMED] * 9)
    lines = [line.split("  ")[0] for line in text.splitlines()]
    assert {"a run's own", "as shown, from the first judging on", "steady", "different"} <= set(
        lines
    )
    assert "judged once" not in lines


def test_rules_are_summed_over_kernels() -> None:
    found = together([own(_kernel(STEADY)), as_one(_kernel(DIFFERENT))])
    assert (6, 8) == (found.held, found.count)


def test_a_file_of_judgings_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "judgings.jsonl"
    file.write_text("".join(json.dumps(asdict(one)) + "\n" for one in DIFFERENT))
    assert DIFFERENT == read(file)


def test_only_what_came_before_is_known_of_a_device(database_url: str) -> None:
    wide = Judging("different", (8e4, 1e5, 13e4) * 8, 3, "processes", 1.0)
    with psycopg.connect(database_url, autocommit=True) as connection:
        known = known_in(connection, [DIFFERENT[0], STEADY[0], DIFFERENT[1], wide, DIFFERENT[2]])
    assert [0, 0, 0, 1, 1] == [one.pairs for one in known]
    assert [True, True, True, False, True] == [one.is_ranked for one in known]
    assert pytest.approx([0.05 * (1 + 1.21 / 12)] * 3) == [one.scatter for one in known[:3]]
    assert known[0].scatter > known[3].scatter


@pytest.mark.exhaustive  # each run has test_only_what_came_before_is_known_of_a_device
def test_what_was_judged_earlier_is_known_from_the_first_judging_on() -> None:
    known = known_before(DIFFERENT[:2], [*STEADY, DIFFERENT[0]])
    assert [3, 4] == [one.pairs for one in known]
