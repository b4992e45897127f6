# style: a pool of two buffers, used in turn
# problem: axpy
import itertools

import numpy as np


class Pool:
    def __init__(self):
        self.buffers = [np.empty(0, np.float32) for _ in range(2)]
        self.turn = itertools.cycle(range(2))

    def take(self, size):
        at = next(self.turn)
        if self.buffers[at].size < size:
            self.buffers[at] = np.empty(size, np.float32)
        return self.buffers[at][:size]


POOL = Pool()


def custom_kernel(data):
    a, x, y = data
    out = POOL.take(x.size)
    np.multiply(x, np.float32(a), out=out)
    np.add(out, y, out=out)
    return out
