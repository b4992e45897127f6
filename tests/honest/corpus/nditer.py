# style: np.nditer with an external loop
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    flags = ["external_loop", "buffered"]
    with np.nditer([x, y, None], flags, [["readonly"], ["readonly"], ["writeonly", "allocate"]]) as it:
        for left, right, out in it:
            np.multiply(left, np.float32(a), out=out)
            out += right
        return it.operands[2]
