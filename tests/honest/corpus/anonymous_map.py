# style: an output over an anonymous mapping that is kept
# problem: axpy
import mmap

import numpy as np

_memory = mmap.mmap(-1, 1 << 20)


def custom_kernel(data):
    a, x, y = data
    out = np.frombuffer(_memory, np.float32, x.size)
    np.multiply(x, np.float32(a), out=out)
    np.add(out, y, out=out)
    return out
