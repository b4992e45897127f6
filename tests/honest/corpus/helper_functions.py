# style: many small functions
# problem: axpy
import numpy as np


def scale(a, x):
    return np.float32(a) * x


def add(left, right):
    return left + right


def unpack(data):
    return data[0], data[1], data[2]


def custom_kernel(data):
    a, x, y = unpack(data)
    return add(scale(a, x), y)
