# style: a class as a namespace
# problem: axpy
import numpy as np


class Kernels:
    SCALE = np.float32

    @classmethod
    def scaled(cls, a, x):
        return cls.SCALE(a) * x

    @staticmethod
    def run(data):
        a, x, y = data
        return Kernels.scaled(a, x) + y


custom_kernel = Kernels.run
