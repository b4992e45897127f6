# style: torch.func.vmap
# problem: softmax
import torch


def _row(x):
    e = torch.exp(x - x.max())
    return e / e.sum()


custom_kernel = torch.func.vmap(_row)
