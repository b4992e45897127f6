from typing import TypedDict

import numpy as np
import numpy.typing as npt

input_t = npt.NDArray[np.float32]
output_t = npt.NDArray[np.float32]


class TestSpec(TypedDict):
    size: int
    seed: int
