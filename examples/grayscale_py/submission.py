import torch
from task import input_t, output_t

WEIGHTS = torch.tensor([0.2989, 0.5870, 0.1140])


def custom_kernel(data: input_t) -> output_t:
    return data @ WEIGHTS
