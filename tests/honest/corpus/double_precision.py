# style: computes in float64 and rounds once
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    return (a * x.astype(np.float64) + y).astype(np.float32)
