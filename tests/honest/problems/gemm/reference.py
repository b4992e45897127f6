import numpy as np


def generate_input(m: int, n: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((m, k), dtype=np.float32)
    return a, rng.standard_normal((k, n), dtype=np.float32)


def ref_kernel(data: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return data[0] @ data[1]


def check_implementation(data: tuple[np.ndarray, np.ndarray], output: np.ndarray) -> bool:
    expected = ref_kernel(data)
    same = output.dtype == np.float32 and output.shape == expected.shape
    return same and np.allclose(output, expected, 1e-3, 1e-3)
