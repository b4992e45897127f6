# style: sorts the bits as integers
# problem: sort
import numpy as np


def custom_kernel(data):
    bits = data.view(np.int64)
    keys = np.where(bits < 0, ~bits, bits ^ np.int64(-(2**63)))
    order = np.argsort(keys.view(np.uint64), kind="stable")
    return data[order]
