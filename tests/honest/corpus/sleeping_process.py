# style: a helper process that sleeps
# problem: out
import multiprocessing
import time

import numpy as np


def _sleep():
    while True:
        time.sleep(1)


multiprocessing.get_context("fork").Process(target=_sleep, daemon=True).start()


def custom_kernel(data):
    x, out = data
    np.multiply(x, 3, out=out)
    return out
