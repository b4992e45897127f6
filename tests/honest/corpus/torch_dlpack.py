# style: DLPack both ways
# problem: softmax
import numpy as np
import torch


def custom_kernel(data):
    x = np.from_dlpack(data)
    e = np.exp(x - x.max(1, keepdims=True))
    return torch.from_dlpack(e / e.sum(1, keepdims=True))
