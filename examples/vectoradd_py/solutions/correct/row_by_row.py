# One call per row: honest, and mostly overhead.
import torch


def custom_kernel(data):
    a, b = data
    out = torch.empty_like(a)
    for row in range(a.shape[0]):
        torch.add(a[row], b[row], out=out[row])
    return out
