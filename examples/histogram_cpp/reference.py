import numpy as np
import numpy.typing as npt

BINS = 256

Bytes = npt.NDArray[np.uint8]
Counts = npt.NDArray[np.int64]


def generate_input(size: int, contention: int, seed: int) -> tuple[Bytes, int, Counts]:
    random = np.random.default_rng(seed)
    data = random.integers(0, BINS, size, dtype=np.uint8)
    data[random.random(size, dtype=np.float32) < contention / 100] = random.integers(0, BINS)
    return data, size, np.empty(BINS, dtype=np.int64)


def ref_kernel(data: tuple[Bytes, int, Counts]) -> Counts:
    return np.bincount(data[0], minlength=BINS)


def check_implementation(data: tuple[Bytes, int, Counts], output: Counts) -> tuple[bool, str]:
    expected = ref_kernel(data)
    wrong = np.flatnonzero(output != expected)
    if wrong.size:
        at = wrong[0]
        return False, (
            f"{wrong.size} of {BINS} bins differ, the first is bin {at}: "
            f"got {output[at]}, expected {expected[at]}"
        )
    return True, ""
