import numpy as np
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    return np.bincount(data, minlength=256)
