# style: documentation everywhere
# problem: axpy
"""A kernel for `a * x + y`.

Bandwidth bound: 12 bytes for two operations.
"""

import numpy as np

__author__ = "A. Uthor"
__version__ = "1.0"


def custom_kernel(data):
    """Return a * x + y.

    >>> custom_kernel((2.0, np.ones(1, np.float32), np.ones(1, np.float32)))
    array([3.], dtype=float32)
    """
    a, x, y = data
    return np.float32(a) * x + y
