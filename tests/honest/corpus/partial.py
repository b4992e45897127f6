# style: functools.partial of a function with options
# problem: axpy
from functools import partial

import numpy as np


def axpy(data, *, dtype):
    a, x, y = data
    return dtype(a) * x + y


custom_kernel = partial(axpy, dtype=np.float32)
