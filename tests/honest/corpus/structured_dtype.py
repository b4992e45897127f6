# style: records with named fields
# problem: axpy
import numpy as np

PAIR = np.dtype([("x", np.float32), ("y", np.float32)])


def custom_kernel(data):
    a, x, y = data
    pairs = np.empty(x.size, PAIR)
    pairs["x"], pairs["y"] = x, y
    return np.float32(a) * pairs["x"] + pairs["y"]
