# style: recursion
# problem: sort
import numpy as np


def merged(left, right):
    result = np.empty(left.size + right.size)
    at = np.searchsorted(left, right, side="right") + np.arange(right.size)
    mask = np.ones(result.size, bool)
    mask[at] = False
    result[at], result[mask] = right, left
    return result


def custom_kernel(data):
    if data.size <= 1024:
        return np.sort(data)
    half = data.size // 2
    return merged(custom_kernel(data[:half]), custom_kernel(data[half:]))
