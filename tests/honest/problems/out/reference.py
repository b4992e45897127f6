import numpy as np


def generate_input(size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(seed).standard_normal(size)
    return x, np.zeros_like(x)


def ref_kernel(data: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return 3 * data[0]


def check_implementation(data: tuple[np.ndarray, np.ndarray], output: np.ndarray) -> bool:
    return np.allclose(output, ref_kernel(data))
