# style: structural pattern matching, walrus, f-strings
# problem: axpy
import numpy as np


def custom_kernel(data):
    match data:
        case (float(a), np.ndarray() as x, np.ndarray() as y) if (size := x.size) == y.size:
            assert f"{size=}"
            return np.float32(a) * x + y
        case _:
            raise TypeError(f"{type(data)!r}")
