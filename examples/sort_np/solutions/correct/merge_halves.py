# Sorts two halves and merges them: honest, and slower than sorting at once.
import numpy as np


def custom_kernel(data):
    middle = data.size // 2
    low, high = np.sort(data[:middle]), np.sort(data[middle:])
    merged = np.empty_like(data)
    places = np.searchsorted(low, high, side="right") + np.arange(high.size)
    from_low = np.ones(data.size, dtype=bool)
    from_low[places] = False
    merged[places] = high
    merged[from_low] = low
    return merged
