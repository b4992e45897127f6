# The wrong way round.
import numpy as np


def custom_kernel(data):
    return np.sort(data)[::-1].copy()
