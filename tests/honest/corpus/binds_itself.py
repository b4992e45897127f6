# style: chooses a processor and a priority
# problem: axpy
import os

import numpy as np

allowed = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, {allowed[-1]})
try:
    os.nice(1)
    os.setpriority(os.PRIO_PROCESS, 0, 0)
except OSError:
    pass


def custom_kernel(data):
    a, x, y = data
    return np.float32(a) * x + y
