# style: checks its arguments in each call
# problem: axpy
import numpy as np


def custom_kernel(data):
    assert isinstance(data, (tuple, list)) and len(data) == 3, "three parts"
    a, x, y = data
    assert x.dtype == y.dtype == np.float32
    assert x.shape == y.shape and x.ndim == 1
    assert x.flags.c_contiguous
    result = np.float32(a) * x + y
    assert result.shape == x.shape
    return result
