# style: F.linear and an in-place ReLU
# problem: linear
import torch.nn.functional as F


def custom_kernel(data):
    x, w, b = data
    return F.linear(x, w, b).relu_()
