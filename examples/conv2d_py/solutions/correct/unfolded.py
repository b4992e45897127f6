# Writes out every window, then one matrix product.
import torch


def custom_kernel(data):
    images, kernels = data
    side = images.shape[-1] - kernels.shape[-1] + 1
    windows = torch.nn.functional.unfold(images, kernels.shape[-2:])
    return (kernels.flatten(1) @ windows).unflatten(-1, (side, side))
