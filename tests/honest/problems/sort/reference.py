import numpy as np


def generate_input(size: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(size)


def ref_kernel(data: np.ndarray) -> np.ndarray:
    return np.sort(data)


def check_implementation(data: np.ndarray, output: np.ndarray) -> bool:
    return output.dtype == np.float64 and np.array_equal(output, ref_kernel(data))
