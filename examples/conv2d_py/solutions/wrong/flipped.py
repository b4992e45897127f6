# Convolution as mathematicians mean it: the kernel turned around.
import torch


def custom_kernel(data):
    images, kernels = data
    return torch.nn.functional.conv2d(images, kernels.flip(-1, -2))
