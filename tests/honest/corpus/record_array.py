# style: np.rec and attribute access
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    table = np.rec.fromarrays([x, y], names="x,y")
    return (np.float32(a) * table.x + table.y).astype(np.float32)
