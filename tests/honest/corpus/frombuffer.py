# style: an output over a bytearray
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    out = np.frombuffer(bytearray(x.nbytes), np.float32)
    np.multiply(x, np.float32(a), out=out)
    np.add(out, y, out=out)
    return out
