from typing import TypedDict

import torch

input_t = tuple[torch.Tensor, int, int]
output_t = torch.Tensor


class TestSpec(TypedDict):
    world_size: int
    size: int
    seed: int
