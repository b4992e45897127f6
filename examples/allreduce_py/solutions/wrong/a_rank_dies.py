import os

import torch.distributed as dist
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    mine, rank, _world_size = data
    if rank == 1:
        os._exit(3)
    total = mine.clone()
    dist.all_reduce(total)
    return total
