import numpy as np
from task import input_t, output_t

BINS = 256


def generate_input(size: int, contention: int, seed: int) -> input_t:
    random = np.random.default_rng(seed)
    data = random.integers(0, BINS, size, dtype=np.uint8)
    data[random.random(size, dtype=np.float32) < contention / 100] = random.integers(0, BINS)
    data[-1] = BINS - 1  # the last bin is never empty, so that forgetting it shows
    return data


def ref_kernel(data: input_t) -> output_t:
    return np.bincount(data, minlength=BINS)


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    if not isinstance(output, np.ndarray):
        return False, f"expected a NumPy array, got {type(output).__name__}"
    if (output.dtype, output.shape) != (np.dtype(np.int64), (BINS,)):
        return False, f"expected int64 of shape ({BINS},), got {output.dtype} of {output.shape}"
    expected = ref_kernel(data)
    wrong = np.flatnonzero(output != expected)
    if wrong.size:
        at = wrong[0]
        return False, (
            f"{wrong.size} of {BINS} bins differ, the first is bin {at}: "
            f"got {output[at]}, expected {expected[at]}"
        )
    return True, ""
