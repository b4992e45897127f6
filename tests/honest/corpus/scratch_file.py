# style: a memory-mapped scratch file in /tmp
# problem: out
import tempfile

import numpy as np

_file = tempfile.NamedTemporaryFile()


def custom_kernel(data):
    x, out = data
    work = np.memmap(_file, np.float64, "w+", shape=x.shape)
    np.multiply(x, 3, out=work)
    out[:] = work
    return out
