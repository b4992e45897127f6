# style: NumPy over torch's memory
# problem: softmax
import numpy as np
import torch


def custom_kernel(data):
    x = data.numpy()
    e = np.exp(x - x.max(axis=1, keepdims=True))
    e /= e.sum(axis=1, keepdims=True)
    return torch.from_numpy(e)
