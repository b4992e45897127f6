import numpy as np
from task import input_t, output_t


def generate_input(size: int, seed: int) -> input_t:
    return np.random.default_rng(seed).random(size, dtype=np.float32)


def ref_kernel(data: input_t) -> output_t:
    return data.copy()


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    if not isinstance(output, np.ndarray):
        return False, f"expected a NumPy array, got {type(output).__name__}"
    if (output.dtype, output.shape) != (data.dtype, data.shape):
        return False, (
            f"expected {data.dtype} of shape {data.shape}, got {output.dtype} of {output.shape}"
        )
    wrong = np.flatnonzero(output != data)
    if wrong.size:
        at = wrong[0]
        return False, (
            f"{wrong.size} of {data.size} elements differ, the first at [{at}]: "
            f"got {output[at]}, expected {data[at]}"
        )
    return True, ""
