# style: new threads in each call, joined
# problem: out
import threading

import numpy as np


def custom_kernel(data):
    x, out = data
    half = x.size // 2
    parts = (slice(0, half), slice(half, None))
    threads = [
        threading.Thread(target=lambda p=p: np.multiply(x[p], 3, out=out[p])) for p in parts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return out
