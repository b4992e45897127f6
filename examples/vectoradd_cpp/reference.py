import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]


def generate_input(size: int, seed: int) -> tuple[Vector, Vector, int, Vector]:
    random = np.random.default_rng(seed)
    a = random.random(size, dtype=np.float32)
    b = random.random(size, dtype=np.float32)
    return a, b, size, np.empty_like(a)


def ref_kernel(data: tuple[Vector, Vector, int, Vector]) -> Vector:
    a, b, _, _ = data
    return a + b


def check_implementation(
    data: tuple[Vector, Vector, int, Vector], output: Vector
) -> tuple[bool, str]:
    expected = ref_kernel(data)
    wrong = np.flatnonzero(output != expected)
    if wrong.size:
        at = wrong[0]
        return False, (
            f"{wrong.size} of {expected.size} sums differ, the first at [{at}]: "
            f"got {output[at]}, expected {expected[at]}"
        )
    return True, ""
