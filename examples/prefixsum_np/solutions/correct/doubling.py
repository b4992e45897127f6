# Hillis and Steele: log2(size) passes over the array; simple to run in parallel, slow here.
import numpy as np


def custom_kernel(data):
    sums = data.astype(np.int64)
    step = 1
    while step < sums.size:
        sums[step:] = sums[step:] + sums[:-step]
        step *= 2
    return sums
