# style: reshapes to rows and uses broadcasting
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    whole = x.size // 8 * 8
    out = np.empty_like(x)
    scale = np.full(8, a, np.float32)
    out[:whole] = (x[:whole].reshape(-1, 8) * scale + y[:whole].reshape(-1, 8)).ravel()
    out[whole:] = np.float32(a) * x[whole:] + y[whole:]
    return out
