# style: a loop over rows
# problem: softmax
import torch


def custom_kernel(data):
    return torch.stack([torch.softmax(row, 0) for row in data.unbind(0)])
