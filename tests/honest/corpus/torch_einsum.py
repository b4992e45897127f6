# style: einsum
# problem: linear
import torch


def custom_kernel(data):
    x, w, b = data
    return (torch.einsum("bi,oi->bo", x, w) + b).relu()
