"""What the benchmark of intervals counts."""

import pytest
from benchmarks.coverage import Judging, as_one, of_one_process, ours, report, together

STEADY = [Judging((100.0,) * 24, 3, "precision", 1.0) for _ in range(4)]
"""All alike."""
DIFFERENT = [
    Judging((99.0 * factor, 100.0 * factor, 101.0 * factor) * 8, 3, "processes", 1.0)
    for factor in (0.98, 1.0, 1.0, 1.02)
]
"""Each of three processes that differ by a hundredth, and from each other by two."""


def test_intervals_that_hold_the_median_over_all_judgings_are_counted() -> None:
    found = [rule(DIFFERENT) for rule in (of_one_process, as_one, ours)]
    assert [(2, 12), (2, 4), (4, 4)] == [(one.held, one.count) for one in found]


def test_what_others_scatter_widens_it() -> None:
    narrow, wide = ours(STEADY).half_widths, ours(STEADY, scatter=0.1).half_widths
    assert pytest.approx([0.0] * 4, abs=1e-9) == narrow
    assert pytest.approx([0.197] * 4, abs=0.001) == wide


def test_the_report_has_a_line_for_each_rule_and_each_kernel() -> None:
    text = report({"steady": STEADY, "different": DIFFERENT, "never judged": []})
    lines = [line.split("  ")[0] for line in text.splitlines()]
    assert {"processes (ours)", "one process", "steady", "different"} <= set(lines)
    assert "never judged" not in lines


def test_rules_are_summed_over_kernels() -> None:
    found = together([ours(STEADY), as_one(DIFFERENT)])
    assert (6, 8) == (found.held, found.count)
