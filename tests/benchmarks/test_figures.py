from benchmarks.figures import median_and_p95_ms, quantile


def test_a_quantile_is_one_of_the_values() -> None:
    assert quantile([float(n) for n in range(1, 101)], 0.95) == 95.0


def test_the_quantile_of_one_value_is_that_value() -> None:
    assert quantile([7.0], 0.95) == 7.0


def test_the_whole_is_the_largest() -> None:
    assert quantile([3.0, 1.0, 2.0], 1.0) == 3.0


def test_times_are_shown_in_milliseconds() -> None:
    assert median_and_p95_ms([0.001, 0.002, 0.003]) == ("2.0", "3.0")
