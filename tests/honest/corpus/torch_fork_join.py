# style: torch.jit.fork and wait
# problem: linear
import torch


def custom_kernel(data):
    x, w, b = data
    future = torch.jit.fork(torch.mm, x, w.t())
    return torch.relu(torch.jit.wait(future) + b)
