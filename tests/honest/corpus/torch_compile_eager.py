# style: torch.compile with the eager backend
# problem: softmax
import torch


@torch.compile(backend="eager", dynamic=True)
def softmax(x):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def custom_kernel(data):
    return softmax(data)
