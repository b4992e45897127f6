# style: libc's memcpy through ctypes
# problem: out
import ctypes

import numpy as np

libc = ctypes.CDLL(None)
libc.memcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
libc.memcpy.restype = ctypes.c_void_p


def custom_kernel(data):
    x, out = data
    libc.memcpy(out.ctypes.data, x.ctypes.data, x.nbytes)
    np.multiply(out, 3, out=out)
    return out
