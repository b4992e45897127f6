import torch


def custom_kernel(data: tuple[torch.Tensor, int]) -> list[torch.Tensor]:
    x, parts = data
    return list(torch.mul(x, 2).reshape(parts, -1).unbind())
