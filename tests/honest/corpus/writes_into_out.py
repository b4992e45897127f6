# style: fills the vector that it is given
# problem: out
import numpy as np


def custom_kernel(data):
    x, out = data
    np.multiply(x, 3, out=out)
    return out
