import numpy as np
from task import input_t, output_t


def generate_input(size: int, seed: int) -> input_t:
    return np.random.default_rng(seed).integers(0, 2**24, size, dtype=np.int32)


def ref_kernel(data: input_t) -> output_t:
    return np.cumsum(data, dtype=np.int64)


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    if not isinstance(output, np.ndarray):
        return False, f"expected a NumPy array, got {type(output).__name__}"
    if (output.dtype, output.shape) != (np.dtype(np.int64), data.shape):
        return False, (
            f"expected int64 of shape {data.shape}, got {output.dtype} of {output.shape}"
        )
    expected = ref_kernel(data)
    wrong = np.flatnonzero(output != expected)
    if wrong.size:
        at = wrong[0]
        return False, (
            f"{wrong.size} of {expected.size} sums differ, the first at [{at}]: "
            f"got {output[at]}, expected {expected[at]}"
        )
    return True, ""
