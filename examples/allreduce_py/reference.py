import torch
import torch.distributed as dist
from task import input_t, output_t

from kernelbot_check import compare

TOLERANCE = 1e-5


def generate_input(size: int, seed: int, rank: int, world_size: int) -> input_t:
    random = torch.Generator().manual_seed(seed * 1009 + rank)
    return torch.randn(size, generator=random), rank, world_size


def ref_kernel(data: input_t) -> output_t:
    """Runs in every rank at once, like the submission."""
    total = data[0].clone()
    dist.all_reduce(total)
    return total


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    return compare(output, ref_kernel(data), rtol=TOLERANCE, atol=TOLERANCE)
