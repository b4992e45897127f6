# style: warnings, and np.errstate
# problem: axpy
import warnings

import numpy as np


def custom_kernel(data):
    a, x, y = data
    if x.size < 10:
        warnings.warn("a small input", stacklevel=2)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.float32(a) * x + y
