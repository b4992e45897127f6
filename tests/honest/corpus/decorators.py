# style: decorators with wraps, and overloads by singledispatch
# problem: axpy
import functools

import numpy as np


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


@functools.singledispatch
def scale(a, x):
    raise TypeError(type(a))


@scale.register
def _(a: float, x):
    return np.float32(a) * x


@counted
def custom_kernel(data):
    a, x, y = data
    return scale(a, x) + y
