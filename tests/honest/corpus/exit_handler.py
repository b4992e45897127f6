# style: an exit handler and a signal handler
# problem: axpy
import atexit
import signal

import numpy as np

atexit.register(print, "bye")
signal.signal(signal.SIGUSR1, lambda *_: None)


def custom_kernel(data):
    a, x, y = data
    return np.float32(a) * x + y
