"""From measurements to scores, from scores to ranks: pure functions."""
