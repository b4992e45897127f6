# style: one level of Strassen's algorithm
# problem: gemm
import numpy as np


def custom_kernel(data):
    a, b = data
    if any(size % 2 for size in (*a.shape, b.shape[1])):
        return a @ b
    (a11, a12), (a21, a22) = quarters(a)
    (b11, b12), (b21, b22) = quarters(b)
    m1 = (a11 + a22) @ (b11 + b22)
    m2 = (a21 + a22) @ b11
    m3 = a11 @ (b12 - b22)
    m4 = a22 @ (b21 - b11)
    m5 = (a11 + a12) @ b22
    m6 = (a21 - a11) @ (b11 + b12)
    m7 = (a12 - a22) @ (b21 + b22)
    return np.block([[m1 + m4 - m5 + m7, m3 + m5], [m2 + m4, m1 - m2 + m3 + m6]])


def quarters(matrix):
    half, wide = matrix.shape[0] // 2, matrix.shape[1] // 2
    return (
        (matrix[:half, :wide], matrix[:half, wide:]),
        (matrix[half:, :wide], matrix[half:, wide:]),
    )
