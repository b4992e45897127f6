# style: np.sort
# problem: sort
import numpy as np


def custom_kernel(data):
    return np.sort(data)
