# style: returns a transposed view
# problem: gemm
import numpy as np


def custom_kernel(data):
    a, b = data
    return (b.T @ a.T).T
