import numpy as np
from task import input_t, output_t

from kernelbot_check import compare


def generate_input(size: int, seed: int) -> input_t:
    return np.random.default_rng(seed).integers(0, 2**24, size, dtype=np.int32)


def ref_kernel(data: input_t) -> output_t:
    return np.cumsum(data, dtype=np.int64)


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    return compare(output, ref_kernel(data))
