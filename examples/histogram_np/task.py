from typing import TypedDict

import numpy as np
import numpy.typing as npt

input_t = npt.NDArray[np.uint8]
output_t = npt.NDArray[np.int64]


class TestSpec(TypedDict):
    size: int
    contention: int
    seed: int
