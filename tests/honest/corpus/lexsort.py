# style: np.lexsort and np.take
# problem: sort
import numpy as np


def custom_kernel(data):
    return np.take(data, np.lexsort((data,)))
