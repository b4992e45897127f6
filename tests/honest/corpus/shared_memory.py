# style: multiprocessing.shared_memory as workspace
# problem: out
from multiprocessing import shared_memory

import numpy as np

_memory = shared_memory.SharedMemory(create=True, size=1 << 20)


def custom_kernel(data):
    x, out = data
    work = np.ndarray(x.shape, np.float64, buffer=_memory.buf)
    np.multiply(x, 3, out=work)
    np.copyto(out, work)
    return out
