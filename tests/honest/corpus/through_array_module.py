# style: the modules array and bisect
# problem: sort
import array

import numpy as np


def custom_kernel(data):
    values = array.array("d", data.tobytes())
    values = array.array("d", sorted(values))
    return np.frombuffer(values)
