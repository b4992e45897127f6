# style: chooses the faster of two ways in its first calls
# problem: axpy
import time

import numpy as np


def plain(a, x, y):
    return a * x + y


def in_place(a, x, y):
    result = np.multiply(a, x)
    result += y
    return result


_took = {plain: [], in_place: []}
_chosen = None


def custom_kernel(data):
    global _chosen
    a, x, y = np.float32(data[0]), data[1], data[2]
    if _chosen is not None:
        return _chosen(a, x, y)
    way = min(_took, key=lambda one: len(_took[one]))
    start = time.perf_counter()
    result = way(a, x, y)
    _took[way].append(time.perf_counter() - start)
    if all(len(times) == 3 for times in _took.values()):
        _chosen = min(_took, key=lambda one: min(_took[one]))
    return result
