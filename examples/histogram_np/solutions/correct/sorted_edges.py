# Sorts first, then looks up where each value begins: honest and slower.
import numpy as np


def custom_kernel(data):
    edges = np.searchsorted(np.sort(data), np.arange(257))
    return np.diff(edges).astype(np.int64)
