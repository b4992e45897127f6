# style: einsum with an optimised path
# problem: gemm
import numpy as np


def custom_kernel(data):
    return np.einsum("mk,kn->mn", *data, optimize=True)
