# style: a periodic threading.Timer
# problem: out
import threading

import numpy as np


def _again():
    timer = threading.Timer(0.05, _again)
    timer.daemon = True
    timer.start()


_again()


def custom_kernel(data):
    x, out = data
    np.multiply(x, 3, out=out)
    return out
