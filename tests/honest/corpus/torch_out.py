# style: out= into a tensor that is kept
# problem: softmax
import torch

_out = {}


def custom_kernel(data):
    out = _out.setdefault(tuple(data.shape), torch.empty_like(data))
    return torch.softmax(data, dim=-1, out=out)
