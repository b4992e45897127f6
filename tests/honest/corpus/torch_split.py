# style: two halves, concatenated into a preallocated tensor
# problem: linear
import torch


def custom_kernel(data):
    x, w, b = data
    out = torch.empty(x.shape[0], w.shape[0])
    half = w.shape[0] // 2
    torch.mm(x, w[:half].t(), out=out[:, :half]) if half == w.shape[0] else out[:, :half].copy_(
        x @ w[:half].t()
    )
    out[:, half:] = x @ w[half:].t()
    out += b
    return out.relu_()
