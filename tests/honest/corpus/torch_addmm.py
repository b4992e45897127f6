# style: addmm and clamp
# problem: linear
import torch


def custom_kernel(data):
    x, w, b = data
    return torch.addmm(b, x, w.t()).clamp_(min=0)
