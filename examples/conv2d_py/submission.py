import torch
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    images, kernels = data
    return torch.nn.functional.conv2d(images, kernels)
