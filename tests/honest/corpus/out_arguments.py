# style: out= of two ufuncs
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    result = np.multiply(x, np.float32(a))
    np.add(result, y, out=result)
    return result
