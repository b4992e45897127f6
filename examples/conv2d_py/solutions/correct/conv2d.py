import torch


def custom_kernel(data):
    images, kernels = data
    return torch.nn.functional.conv2d(images, kernels)
