# style: identifiers and comments beyond ASCII
# problem: axpy
import numpy as np

π = np.float32(3.14159)  # unused, as in many files


def größe(ξ):
    """返回大小。"""
    return ξ.size


def custom_kernel(data):
    α, ξ, υ = data
    результат = np.empty(größe(ξ), np.float32)
    np.multiply(ξ, np.float32(α), out=результат)  # ← ξ·α
    результат += υ
    return результат
