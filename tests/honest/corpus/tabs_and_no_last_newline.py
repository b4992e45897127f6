# style: tabs, semicolons, no newline at the end
# problem: axpy
import numpy as np; import sys


def custom_kernel(data):
	a, x, y = data; r = np.float32(a) * x
	return r + y