import torch
from task import input_t, output_t

from kernelbot_check import compare

TOLERANCE = 1e-5


def generate_input(rows: int, columns: int, seed: int) -> input_t:
    random = torch.Generator().manual_seed(seed)
    data = torch.randn(rows, columns, generator=random)
    data[::2] *= 200.0  # exp() of these overflows unless the maximum is taken off first
    return data


def ref_kernel(data: input_t) -> output_t:
    return torch.softmax(data, dim=-1)


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    expected = torch.softmax(data.double(), dim=-1).to(data.dtype)
    return compare(output, expected, rtol=TOLERANCE, atol=1e-7)
