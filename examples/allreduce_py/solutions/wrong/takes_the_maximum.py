import torch.distributed as dist
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    mine, _rank, _world_size = data
    total = mine.clone()
    dist.all_reduce(total, op=dist.ReduceOp.MAX)
    return total
