# style: a coroutine that is sent the data
# problem: axpy
import numpy as np


def forever():
    result = None
    while True:
        a, x, y = yield result
        result = np.float32(a) * x + y


_worker = forever()
next(_worker)


def custom_kernel(data):
    return _worker.send(data)
