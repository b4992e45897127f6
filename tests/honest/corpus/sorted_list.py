# style: Python's sorted, of a list
# problem: sort
import numpy as np


def custom_kernel(data):
    return np.array(sorted(data.tolist()))
