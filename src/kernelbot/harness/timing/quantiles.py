"""Quantiles of costs that are kept sorted."""

from collections.abc import Sequence


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value that so large a share of them is below: one of them, of at least one."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def interquartile_ns(ordered: Sequence[float]) -> float:
    """The interquartile range."""
    return quantile(ordered, 0.75) - quantile(ordered, 0.25)
