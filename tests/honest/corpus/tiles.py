# style: tiles in three loops
# problem: gemm
import numpy as np

TILE = 64


def custom_kernel(data):
    a, b = data
    (m, k), n = a.shape, b.shape[1]
    out = np.zeros((m, n), np.float32)
    for i in range(0, m, TILE):
        for j in range(0, n, TILE):
            for p in range(0, k, TILE):
                out[i : i + TILE, j : j + TILE] += (
                    a[i : i + TILE, p : p + TILE] @ b[p : p + TILE, j : j + TILE]
                )
    return out
