# A picture, but in the wrong type.
import torch


def custom_kernel(data):
    grey = 0.2989 * data[..., 0] + 0.5870 * data[..., 1] + 0.1140 * data[..., 2]
    return (grey * 255).to(torch.uint8)
