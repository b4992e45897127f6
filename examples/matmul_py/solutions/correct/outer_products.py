# A sum of blocks of outer products: honest and slower.
import torch


def custom_kernel(data):
    a, b = data
    out = torch.zeros(a.shape[0], b.shape[1])
    for start in range(0, a.shape[1], 32):
        out += a[:, start : start + 32] @ b[start : start + 32]
    return out
