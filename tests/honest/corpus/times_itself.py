# style: measures each call and keeps the best
# problem: axpy
import time

import numpy as np

best_ns = None


def custom_kernel(data):
    global best_ns
    a, x, y = data
    start = time.perf_counter_ns()
    result = np.float32(a) * x + y
    took_ns = time.perf_counter_ns() - start
    best_ns = took_ns if best_ns is None else min(best_ns, took_ns)
    return result
