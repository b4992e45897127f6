# style: writes its function as text and runs it
# problem: axpy
import numpy as np

SOURCE = """
def generated(a, x, y):
    return {scale} * x + y
"""
_names = {"np": np}
exec(compile(SOURCE.format(scale="np.float32(a)"), "<generated>", "exec"), _names)


def custom_kernel(data):
    return _names["generated"](*data)
