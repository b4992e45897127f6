from typing import TypedDict

import numpy as np
import numpy.typing as npt

input_t = npt.NDArray[np.int32]
output_t = npt.NDArray[np.int64]


class TestSpec(TypedDict):
    size: int
    seed: int
