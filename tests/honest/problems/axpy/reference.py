import numpy as np


def generate_input(size: int, seed: int) -> tuple[float, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(size, dtype=np.float32)
    return float(rng.uniform(1, 2)), x, rng.standard_normal(size, dtype=np.float32)


def ref_kernel(data: tuple[float, np.ndarray, np.ndarray]) -> np.ndarray:
    a, x, y = data
    return np.float32(a) * x + y


def check_implementation(data: tuple[float, np.ndarray, np.ndarray], output: np.ndarray) -> bool:
    return output.dtype == np.float32 and np.allclose(output, ref_kernel(data), 1e-5, 1e-5)
