import numpy as np
from task import input_t, output_t


def generate_input(size: int, seed: int) -> input_t:
    return np.random.default_rng(seed).standard_normal(size, dtype=np.float32)


def ref_kernel(data: input_t) -> output_t:
    return np.sort(data)


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    if not isinstance(output, np.ndarray):
        return False, f"expected a NumPy array, got {type(output).__name__}"
    expected = ref_kernel(data)
    if (output.dtype, output.shape) != (expected.dtype, expected.shape):
        return False, (
            f"expected {expected.dtype} of shape {expected.shape}, "
            f"got {output.dtype} of {output.shape}"
        )
    wrong = np.flatnonzero(output != expected)
    if wrong.size:
        at = wrong[0]
        return False, (
            f"{wrong.size} of {expected.size} elements differ, the first at [{at}]: "
            f"got {output[at]}, expected {expected[at]}"
        )
    return True, ""
