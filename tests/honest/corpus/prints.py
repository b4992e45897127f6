# style: prints in each call
# problem: axpy
import sys

import numpy as np

print("loaded", np.__version__)


def custom_kernel(data):
    a, x, y = data
    print("size", x.size, file=sys.stderr)
    return np.float32(a) * x + y
