# style: NumPy's scalars in the answer
# problem: stats
import numpy as np


def custom_kernel(data):
    return {"mean": np.mean(data, axis=0), "top": data.max(), "count": np.count_nonzero(data > 0)}
