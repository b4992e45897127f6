# Right numbers in the shape (size, size, 1).
import torch


def custom_kernel(data):
    return data @ torch.tensor([[0.2989], [0.5870], [0.1140]])
