# style: saved by an editor that begins files with a BOM
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    return np.float32(a) * x + y
