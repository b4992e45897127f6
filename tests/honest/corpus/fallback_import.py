# style: tries a library that isn't there
# problem: axpy
import numpy as np

try:
    import numexpr
except ImportError:
    numexpr = None


def custom_kernel(data):
    a, x, y = data
    if numexpr is not None:
        return numexpr.evaluate("a * x + y", local_dict={"a": np.float32(a), "x": x, "y": y})
    return np.float32(a) * x + y
