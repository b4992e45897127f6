# style: a pool that is kept; every call waits for its tasks
# problem: out
from concurrent.futures import ThreadPoolExecutor

import numpy as np

POOL = ThreadPoolExecutor(4)


def custom_kernel(data):
    x, out = data
    cuts = np.linspace(0, x.size, 5).astype(int)

    def work(i):
        part = slice(cuts[i], cuts[i + 1])
        np.multiply(x[part], 3, out=out[part])

    list(POOL.map(work, range(4)))
    return out
