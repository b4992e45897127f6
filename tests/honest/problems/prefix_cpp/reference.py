import numpy as np


def generate_input(size: int, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    x = np.random.default_rng(seed).standard_normal(size, dtype=np.float32)
    return x, np.empty_like(x), size


def ref_kernel(data: tuple[np.ndarray, np.ndarray, int]) -> np.ndarray:
    return np.cumsum(data[0].astype(np.float64)).astype(np.float32)


def check_implementation(data: tuple[np.ndarray, np.ndarray, int], output: np.ndarray) -> bool:
    return np.allclose(output, ref_kernel(data), 1e-3, 1e-1)
