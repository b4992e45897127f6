# style: lines end with CR LF
# problem: axpy
import numpy as np


def custom_kernel(data):
    a, x, y = data
    text = """a string
over two lines"""
    assert text
    return np.float32(a) * x + y
